import { commonField, consentBox, unseen } from '../src/pages/form-trees.ts'
import type { KnownForm, Problem, Tree, TreeText } from '../src/signup/wire.ts'
import { create } from './dom.ts'
import { type Handle, takeOver } from './form.ts'
import css from './embed.css'
import { isOn, type Options, optionsOf } from './options.ts'
import { endpointOf, tellAuthor } from './place.ts'
import { chooseLanguage, english, type FormTexts, readFile, readTexts } from './texts.ts'
import { darkSystem, themeFor } from './theme.ts'
import { languageFor } from '../src/signup/site-text.ts'

/** The service puts this constant in front of the script, so that the form has it at once. */
declare const rollcallForm: KnownForm | undefined

const known: KnownForm = typeof rollcallForm === 'undefined' ? {} : rollcallForm

/**
 * What the form of a site shows. Asks the service when the script was loaded for another site. Undefined, and told,
 * when there is no such site, or none is named where there are several: no form would work.
 */
async function knownForm(
  site: string | undefined,
  endpoint: string,
): Promise<KnownForm | undefined> {
  // An empty name is none.
  const wanted = [site, known.site].find(Boolean)
  if (wanted === known.site) return known
  const name = `form.json?site=${wanted ?? ''}`
  const form = await readFile<KnownForm & Problem>(name, endpoint)
  // Without an answer the form is shown without fields, and the service tells what is missing.
  if (!form.detail) return { ...form, ...(wanted && { site: wanted }) }
  tellAuthor((it) => it.noSite(wanted, form.detail))
  return undefined
}

/** Makes the elements of a tree, in the visitor's language. */
function drawn(
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

/** `<rollcall-form>`: a signup form that only its own styles and its custom properties can change. */
export class RollcallForm extends HTMLElement {
  static readonly observedAttributes = ['theme', 'data-theme']

  /** These options win over the attributes. Set them before the element is connected. */
  options: Options = {}
  readonly #root = this.attachShadow({ mode: 'open' })
  readonly #paint = () => {
    this.#card?.classList.toggle('dark', this.#theme() === 'dark')
  }
  #card: HTMLElement | undefined
  #handle: Handle | undefined

  connectedCallback(): void {
    if (this.#card) return
    darkSystem.addEventListener('change', this.#paint)
    void this.#build()
  }

  disconnectedCallback(): void {
    // Moving the element within the page disconnects it only for a moment.
    queueMicrotask(() => {
      if (this.isConnected) return
      darkSystem.removeEventListener('change', this.#paint)
      this.#handle?.remove()
      this.#handle = this.#card = undefined
      this.#root.replaceChildren()
    })
  }

  attributeChangedCallback(): void {
    this.#paint()
  }

  reset(): void {
    this.#handle?.reset()
  }

  async #build(): Promise<void> {
    const card = (this.#card = create('div', { class: 'card' }))
    const options = optionsOf(this, this.options)
    const service = endpointOf(options.server)
    const language = chooseLanguage(options.language, this)
    const [read, known] = await Promise.all([
      readTexts(language, service),
      knownForm(options.site, service),
    ])
    if (this.#card !== card || !known) return

    const texts: FormTexts = { ...english, ...read, ...options.texts }
    const own = { ...texts, ...known.texts, ...options.texts }
    const draw = (tree: Tree) => drawn(texts, language, tree)
    const consent = options.consent ? { [language]: options.consent } : known.consent
    const endpoint = new URL(service)
    if (known.site) endpoint.searchParams.set('site', known.site)
    // Then the service requires a consent.
    if (consent) endpoint.searchParams.set('page', 'embed')
    const name = options.name ?? known.name
    const fields: Tree[] = [
      commonField('email', true),
      ...(isOn(name) ? [commonField('name', name === 'required')] : []),
      ...(known.fields ?? []),
      ...(consent ? [consentBox(consent, language)] : []),
    ]
    const form = draw([
      'form',
      { method: 'post', class: fields[1] ? '' : 'single' },
      ...fields,
      unseen,
      ['slot', { name: 'challenge' }],
      ['button', { type: 'submit' }, own.submit],
    ]) as HTMLFormElement
    fillIn(form, options.hidden)
    form.action = endpoint.href
    card.lang = language
    card.dir = texts.dir
    if (own.title) card.append(draw(['h2', {}, own.title]))
    if (own.text) card.append(draw(['p', {}, own.text]))
    if (known.notice) card.append(draw(known.notice))
    if (!known.closed) card.append(form)
    // A constructed sheet works under a strict CSP, which forbids inline styles.
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(css + (known.styles ?? ''))
    this.#root.adoptedStyleSheets = [sheet]
    this.#root.append(card)
    this.#paint()
    this.#handle = takeOver({
      form,
      texts,
      language,
      endpoint: endpoint.href,
      thanks: () => known.thanks?.map(draw) ?? [],
      options: { ...options, utm: isOn(options.utm), source: options.source ?? 'embed' },
      target: this,
      theme: () => this.#theme(),
      // Outside of the shadow tree, and shown inside through a slot.
      challengeBox: () => this.appendChild(create('div', { slot: 'challenge' })),
    })
  }

  #theme() {
    return themeFor(this, optionsOf(this, this.options).theme)
  }
}

/** Fills in the fields that the page's author gives a value. Only the visitor can give consent. */
function fillIn(form: HTMLFormElement, values: Readonly<Record<string, string>> = {}): void {
  for (const [name, value] of Object.entries(values)) {
    const control = form.elements.namedItem(name) as HTMLInputElement | null
    if (!control || control.id === 'consent') continue
    const boxes = form.querySelectorAll<HTMLInputElement>(`[type=checkbox][name="${name}"]`)
    for (const box of boxes) {
      box.checked = box.closest('[data-several]')
        ? value.split(/ *, */).includes(box.value)
        : /^(true|on|yes|1)$/i.test(value)
    }
    if (!boxes[0]) control.value = value
  }
}
