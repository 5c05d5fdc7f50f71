import { enhance } from './enhance.ts'
import { tellHeight } from './height.ts'
import { serveFrom } from './place.ts'

/** On our own pages: the form sends itself, with the challenge if it is on, and goes on by itself. */
const { lang: language, dataset } = document.documentElement
const form = document.querySelector('form')

serveFrom(new URL('..', (document.currentScript as HTMLScriptElement).src).href)
if (form) {
  enhance(form, { language, theme: dataset['theme'] ?? '' })
  // What the last answer said is of the past.
  form.addEventListener('rollcall:submit', () => document.querySelector('.alert')?.remove())
  form.addEventListener('rollcall:success', (event) => {
    event.preventDefault()
    location.assign(form.dataset['next'] ?? '')
  })
}
if (parent !== window) tellHeight()
