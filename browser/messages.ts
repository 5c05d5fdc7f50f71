import { create } from './dom.ts'
import type { FormTexts, Texts } from './texts.ts'

/** The messages about the whole form. Their live regions exist before the first message. */
export type Messages = ReturnType<typeof placeMessages>

export function placeMessages(form: HTMLFormElement, texts: FormTexts) {
  const region = (kind: string, role: string) =>
    create('div', { class: `rollcall-${kind}`, role, tabindex: '-1' })
  const alert = region('alert', 'alert')
  const status = region('status', 'status')
  const done = region('done', 'status')
  form.append(alert, status)
  form.after(done)
  return {
    /** Shows a status, which a screen reader says when it is idle. Without a text, clears it. */
    status: (text?: keyof Texts): void => {
      alert.textContent = ''
      status.textContent = (text && texts[text]) ?? ''
    },
    /** Shows an alert, which a screen reader says at once. */
    alert: (text: keyof Texts, words?: string): void => {
      status.textContent = ''
      alert.textContent = texts[text] ?? words ?? ''
    },
    /** The place of the thanks. */
    done,
    remove: (): void => {
      for (const it of [alert, status, done]) it.remove()
    },
  }
}
