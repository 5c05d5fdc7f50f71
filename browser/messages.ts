import { create } from './dom.ts'
import type { Texts } from './texts.ts'

/** The messages about the whole form. Their live regions exist before the first message. */
export interface Messages {
  /** Shows a status, which a screen reader says when it is idle. Without a text, clears it. */
  status(text?: keyof Texts): void
  /** Shows an alert, which a screen reader says at once. */
  alert(text: keyof Texts): void
  /** Replaces the form with the thanks. */
  done(): void
  /** Shows the form again and removes every message. */
  clear(): void
  remove(): void
}

export function placeMessages(form: HTMLFormElement, texts: Texts): Messages {
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
      status.textContent = text ? texts[text] : ''
    },
    alert: (text) => {
      status.textContent = ''
      alert.textContent = texts[text]
    },
    done: () => {
      const hadFocus = form.matches(':focus-within')
      form.style.setProperty('display', 'none', 'important')
      done.textContent = texts.done
      if (hadFocus) done.focus()
    },
    clear: () => {
      alert.textContent = status.textContent = done.textContent = ''
      form.style.display = ''
    },
    remove: () => {
      for (const it of [alert, status, done]) it.remove()
    },
  }
}
