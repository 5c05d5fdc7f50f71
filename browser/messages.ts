import { create } from './dom.ts'
import type { Texts } from './texts.ts'

/** What is said of the form as a whole, in live regions that are there before they speak. */
export interface Messages {
  /** Politely, when the screen reader has finished. Without a text: nothing any more. */
  status(text?: keyof Texts): void
  /** At once. */
  alert(text: keyof Texts): void
  /** Thanks, in place of the form. */
  done(): void
  /** The form again, and no message. */
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
