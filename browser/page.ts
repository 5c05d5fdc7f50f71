import { enhance } from './enhance.ts'
import { tellHeight } from './height.ts'
import { serveFrom } from './place.ts'

/** Runs on our own pages: sends the form by script, shows the challenge, and opens the next page. */
const { lang: language, dataset } = document.documentElement
const form = document.querySelector('form')

serveFrom(new URL('..', (document.currentScript as HTMLScriptElement).src).href)
if (form) {
  enhance(form, { language, theme: dataset['theme'] ?? '' })
  form.addEventListener('focusin', stayInPlace, { once: true })
  // Remove the alert of the last answer.
  form.addEventListener('rollcall:submit', () => document.querySelector('.alert')?.remove())
  form.addEventListener('rollcall:success', (event) => {
    event.preventDefault()
    location.assign(form.dataset['next'] ?? '')
  })
}
if (parent !== window) tellHeight()

/**
 * Fixes the distance from the top. In the middle of the window, the button would move up when the
 * challenge appears below it, while somebody reaches for it.
 */
function stayInPlace(): void {
  const { body } = document
  const top = (body.querySelector('main')?.getBoundingClientRect().top ?? 0) + scrollY
  body.style.alignContent = 'start'
  body.style.paddingBlockStart = `${top}px`
}
