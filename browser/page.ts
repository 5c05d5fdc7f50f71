import { enhance } from './enhance.ts'
import { tellHeight } from './height.ts'
import { serveFrom } from './place.ts'

/** Runs on our own pages: sends the form by script, shows the challenge, and opens the next page. */
const { lang: language, dataset } = document.documentElement
const form = document.querySelector('form')

serveFrom(new URL('..', (document.currentScript as HTMLScriptElement).src).href)
if (form) {
  enhance(form, { language, theme: dataset['theme'] ?? '' })
  // Remove the alert of the last answer.
  form.addEventListener('rollcall:submit', () => document.querySelector('.alert')?.remove())
  form.addEventListener('rollcall:success', (event) => {
    event.preventDefault()
    location.assign(form.dataset['next'] ?? '')
  })
}
if (parent !== window) tellHeight()
