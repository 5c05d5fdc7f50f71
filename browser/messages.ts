import { create } from './dom.ts'
import type { FormTexts, Texts } from './texts.ts'

/** The messages about the whole form. Their live regions exist before the first message. */
export interface Messages {
  /** Shows a status, which a screen reader says when it is idle. Without a text, clears it. */
  status(text?: keyof Texts): void
  /** Shows an alert, which a screen reader says at once. */
  alert(text: keyof Texts): void
  /** The place of the thanks. */
  readonly done: HTMLElement
  remove(): void
}

export function placeMessages(form: HTMLFormElement, texts: FormTexts): Messages {
  const region = (kind: string, role: string) =>
    create('div', { class: `rollcall-${kind}`, role, tabindex: '-1' })
  const alert = region('alert', 'alert')
  const status = region('status', 'status')
  const done = region('done', 'status')
  form.append(alert, status)
  form.after(done)
  return {
    status: (text) => {
      alert.textContent = ''
      status.textContent = (text && texts[text]) ?? ''
    },
    alert: (text) => {
      status.textContent = ''
      alert.textContent = texts[text] ?? ''
    },
    done,
    remove: () => {
      for (const it of [alert, status, done]) it.remove()
    },
  }
}
