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
  /** `words` are for a text that only the page may have. Without any, the region is cleared. */
  const tell =
    (region: HTMLElement, other: HTMLElement) =>
    (text?: keyof Texts, words = '') => {
      other.textContent = ''
      region.textContent = (text && texts[text]) ?? words
    }
  return {
    /** Shows a status, which a screen reader says when it is idle. */
    status: tell(status, alert),
    /** Shows an alert, which a screen reader says at once. */
    alert: tell(alert, status),
    /** The place of the thanks. */
    done,
    remove: (): void => {
      for (const it of [alert, status, done]) it.remove()
    },
  }
}
