import type { Tree } from '../src/signup/wire.ts'
import { consentBox } from './consent.ts'
import { create } from './dom.ts'
import { type Handle, takeOver } from './form.ts'
import { drawn, knownForm } from './known.ts'
import css from './embed.css'
import { type Options, optionsOf } from './options.ts'
import { endpointOf } from './place.ts'
import { chooseLanguage, english, type FormTexts, readTexts } from './texts.ts'
import { darkSystem, themeFor } from './theme.ts'

/** The stylesheet of all forms. A constructed sheet works under a strict CSP, which forbids inline styles. */
const sheet = new CSSStyleSheet()
sheet.replaceSync(css)

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
    this.#root.adoptedStyleSheets = [sheet]
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
    if (this.#card !== card) return

    const consent = consentBox(options.consent ?? '', known)
    // The query tells the service that the form asks for consent, so that the service requires it.
    const query = new URLSearchParams({
      ...(known.site && { site: known.site }),
      ...(consent && { page: 'embed' }),
    })
    const endpoint = service + (query.size ? `?${query}` : '')
    const texts: FormTexts = { ...english, ...read, ...options.texts }
    const draw = (trees: readonly Tree[] = []) => trees.map((tree) => drawn(texts, tree))
    const own = draw(known.fields)
    const form = buildForm(texts, options.fields?.name, [...own, ...(consent ? [consent] : [])])
    fillIn(form, options.fields?.hidden)
    form.action = endpoint
    card.lang = language
    card.dir = texts.dir
    if (texts.title) card.append(create('h2', {}, texts.title))
    if (texts.text) card.append(create('p', {}, texts.text))
    card.append(form)
    this.#root.append(card)
    this.#paint()
    this.#handle = takeOver({
      form,
      texts,
      language,
      endpoint,
      thanks: draw(known.thanks),
      options: { ...options, source: options.source ?? 'embed' },
      target: this,
      theme: () => this.#theme(),
      challengeBox: () => this.#placeChallenge(card),
    })
  }

  #theme() {
    return themeFor(this, optionsOf(this, this.options).theme)
  }

  /** Makes the challenge's place outside of the shadow tree, shown inside through a slot. */
  #placeChallenge(card: HTMLElement): HTMLElement {
    const box = create('div', { slot: 'challenge' })
    this.append(box)
    const observer = new ResizeObserver(() => {
      card.classList.toggle('challenged', box.clientHeight > 0)
    })
    observer.observe(box)
    return box
  }
}

function buildForm(
  texts: FormTexts,
  asksName: boolean | string | undefined,
  more: readonly HTMLElement[],
) {
  const form = create('form', { method: 'post', class: asksName || more[0] ? '' : 'single' })
  if (asksName) {
    const isRequired = asksName === 'required'
    const hint = isRequired ? [] : [' ', create('small', {}, `(${texts.optional})`)]
    const required = isRequired ? { required: '' } : {}
    const attributes = { autocomplete: 'name', maxlength: '200', ...required }
    form.append(field('name', [texts.name, ...hint], attributes))
  }
  form.append(
    field('email', [texts.email], {
      type: 'email',
      autocomplete: 'email',
      inputmode: 'email',
      autocapitalize: 'none',
      spellcheck: 'false',
      dir: 'ltr',
      maxlength: '254',
      required: '',
    }),
    ...more,
    create('slot', { name: 'challenge' }),
    create('button', { type: 'submit' }, texts.submit),
  )
  return form
}

/** Fills in the fields that the page's author gives a value. Only the visitor can give consent. */
function fillIn(form: HTMLFormElement, values: Readonly<Record<string, string>> = {}): void {
  for (const [name, value] of Object.entries(values)) {
    const control = form.elements.namedItem(name) as HTMLInputElement | null
    if (!control || control.id === 'consent') continue
    if (control.type === 'checkbox') control.checked = /^(true|on|yes|1)$/i.test(value)
    else control.value = value
  }
}

function field(
  id: string,
  label: readonly (string | Node)[],
  attributes: Readonly<Record<string, string>>,
): HTMLElement {
  const input = create('input', { id, name: id, ...attributes })
  return create('div', { class: 'field' }, create('label', { for: id }, ...label), input)
}
