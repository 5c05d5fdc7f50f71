import type { KnownForm, Tree } from '../src/signup/wire.ts'
import { create } from './dom.ts'
import { tellAuthor } from './place.ts'
import { readFile } from './read-file.ts'
import type { FormTexts } from './texts.ts'

/** The service puts this constant in front of the script, so that the form has it at once. */
declare const rollcallForm: KnownForm | undefined

const known: KnownForm = typeof rollcallForm === 'undefined' ? {} : rollcallForm

/** What the form of a site shows. Asks the service when the script was loaded for another site. */
export async function knownForm(
  site: string | undefined,
  endpoint: string,
  place: HTMLElement,
): Promise<KnownForm> {
  if (!site || site === known.site) return known
  // Without an answer the form is shown without fields, and the service tells what is missing.
  const form = await readFile<KnownForm>(`form.json?site=${site}`, endpoint)
  if (form.site !== site) tellAuthor((it) => it.checkSite(endpoint, site, place))
  // The answer for an unknown site has no name. Without one, signups would go to the default site.
  return { ...form, site }
}

/** Makes the elements of a tree. */
export function drawn(texts: FormTexts, [tag, attributes, ...content]: Tree): HTMLElement {
  const words = [`(${texts.optional})`, texts.choose, texts.next]
  const nodes = content.map((it) =>
    typeof it === 'string' ? it : typeof it === 'number' ? (words[it] ?? '') : drawn(texts, it),
  )
  return create(tag as 'div', attributes, ...nodes)
}
