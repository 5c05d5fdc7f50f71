import { create } from './dom.ts'
import { type Handle, takeOver } from './form.ts'
import type { Options } from './options.ts'
import { endpointOf } from './place.ts'
import { chooseLanguage, english, type FormTexts, readTexts } from './texts.ts'
import { themeFor } from './theme.ts'

const enhanced = new WeakMap<HTMLFormElement, Handle>()

/**
 * Sends a form of the page by script, with all its fields. The form keeps its markup and its looks; the
 * messages have classes that begin with `rollcall-`. Without scripts the form works as before.
 */
export function enhance(form: HTMLFormElement, given: Options = {}): Handle {
  const options = { ...given, ...given.fields }
  const known = enhanced.get(form)
  if (known) return known
  const action = form.getAttribute('action') ?? ''
  const isOurs = !options.server && /\/api\/signup(\?|$)/.test(action)
  const named = options.site ? `?site=${options.site}` : ''
  const endpoint = isOurs
    ? new URL(action, document.baseURI).href
    : endpointOf(options.server) + named
  const language = chooseLanguage(options.language, form)
  const texts: FormTexts = { ...english, ...options.texts }
  void readTexts(language, endpoint).then((read) => Object.assign(texts, read, options.texts))
  const { reset, remove } = takeOver({
    form,
    texts,
    language,
    endpoint,
    options,
    target: form,
    theme: () => themeFor(form, options.theme),
    // At the end, so that the button does not move while somebody reaches for it.
    challengeBox: () => form.appendChild(create('div', { class: 'rollcall-challenge' })),
  })
  const handle = {
    reset,
    remove: () => {
      enhanced.delete(form)
      remove()
    },
  }
  enhanced.set(form, handle)
  return handle
}
