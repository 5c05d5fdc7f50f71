import type { SignupAccepted } from '../src/signup/wire.ts'
import { enhance } from './enhance.ts'
import { tellHeight } from './height.ts'
import { serveFrom } from './place.ts'

/** Runs on our own pages: sends the form by script, shows the challenge, and opens the next page. */
const { lang: language, dataset } = document.documentElement
const form = document.querySelector('form')

serveFrom(new URL('..', (document.currentScript as HTMLScriptElement).src).href)
if (form) {
  // The page says above the form that it is for a waiting list.
  enhance(form, { language, theme: dataset['theme'] ?? '', texts: { overflow: '' } })
  form.addEventListener('focusin', stayInPlace, { once: true })
  new MutationObserver(() => summarize(form)).observe(form, { attributeFilter: ['aria-busy'] })
  form.addEventListener('rollcall:success', (event) => {
    const { status, overflow } = (event as CustomEvent<SignupAccepted>).detail
    // Who has mistyped the address gets the form back as it was sent. The next page is for those who have a place.
    if (status === 'pending' || overflow) return
    event.preventDefault()
    location.assign(form.dataset['next'] ?? '')
  })
}
if (parent !== window) tellHeight()

/** Removes the alert of the last try, and shows the service's summary when fields are wrong. */
function summarize(form: HTMLFormElement): void {
  document.querySelector('.alert')?.remove()
  const summary = document.querySelector('template')
  const isWrong = !form.ariaBusy && form.querySelector('[aria-invalid]')
  if (summary && isWrong) form.before(summary.content.cloneNode(true))
}

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
