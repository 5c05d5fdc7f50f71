import { languageFor } from '../src/signup/site-text.ts'
import type { KnownForm, Tree, TreeText } from '../src/signup/wire.ts'
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

/** Makes the elements of a tree, in the visitor's language. */
export function drawn(
  texts: FormTexts,
  language: string,
  [tag, attributes, ...content]: Tree,
): HTMLElement {
  const textOf = (it: TreeText) => {
    if (typeof it === 'string') return it
    return ('ours' in it ? texts[it.ours] : it[languageFor(it, language)]) ?? ''
  }
  const element = create(tag as 'div')
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, textOf(value))
  for (const it of content) {
    element.append(it instanceof Array ? drawn(texts, language, it) : textOf(it))
  }
  return element
}
