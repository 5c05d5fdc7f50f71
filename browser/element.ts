import type { Tree } from '../src/signup/wire.ts'
import { consentBox } from './consent.ts'
import { create } from './dom.ts'
import { type Handle, takeOver } from './form.ts'
import { drawn, knownForm } from './known.ts'
import css from './embed.css'
import { areOdd, isOn, type Options, optionsOf } from './options.ts'
import { endpointOf, tellAuthor } from './place.ts'
import { chooseLanguage, english, type FormTexts, readTexts } from './texts.ts'
import { darkSystem, themeFor } from './theme.ts'

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
      knownForm(options.site, service, this),
    ])
    if (this.#card !== card) return

    const consent = consentBox(options.consent ?? '', known)
    // The query tells the service that the form asks for consent, so that the service requires it.
    const query = new URLSearchParams({
      ...(known.site && { site: known.site }),
      ...(consent && { page: 'embed' }),
    })
    const endpoint = service + (query.size ? `?${query}` : '')
    const texts: FormTexts = { ...english, ...read, ...known.texts, ...options.texts }
    const worded = (key: 'title' | 'text' | 'submit') =>
      create(
        'span',
        known.texts?.[key] === texts[key] ? { lang: known.language ?? '', dir: 'auto' } : {},
        texts[key],
      )
    const draw = (trees: readonly Tree[] = []) => trees.map((tree) => drawn(texts, tree))
    const own = draw(known.fields)
    const form = buildForm(texts, options.name ?? known.name, worded('submit'), [
      ...own,
      ...(consent ? [consent] : []),
    ])
    const isFilled = fillIn(form, options.hidden)
    if (!isFilled || areOdd(options)) {
      tellAuthor((it) => it.checkOptions(options, form, this))
    }
    form.action = endpoint
    card.lang = language
    card.dir = texts.dir
    if (texts.title) card.append(create('h2', {}, worded('title')))
    if (texts.text) card.append(create('p', {}, worded('text')))
    card.append(form)
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
      endpoint,
      thanks: () => draw(known.thanks),
      options: { ...options, utm: isOn(options.utm), source: options.source ?? 'embed' },
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
  name: boolean | string | undefined,
  submit: Node,
  more: readonly HTMLElement[],
) {
  const form = create('form', { method: 'post', class: isOn(name) || more[0] ? '' : 'single' })
  form.append(
    field('email', [texts.email], {
      type: 'email',
      autocomplete: 'email',
      spellcheck: 'false',
      dir: 'ltr',
      maxlength: '254',
      required: '',
    }),
  )
  if (isOn(name)) {
    const isRequired = name === 'required'
    const hint = isRequired ? [] : [' ', create('small', {}, `(${texts.optional})`)]
    const required = isRequired ? { required: '' } : {}
    const attributes = { autocomplete: 'name', maxlength: '200', ...required }
    form.append(field('name', [texts.name, ...hint], attributes))
  }
  form.append(
    ...more,
    create('slot', { name: 'challenge' }),
    create('button', { type: 'submit' }, submit),
  )
  return form
}

/**
 * Fills in the fields that the page's author gives a value. Only the visitor can give consent.
 *
 * @returns whether every field could take its value
 */
function fillIn(form: HTMLFormElement, values: Readonly<Record<string, string>> = {}): boolean {
  let isFilled = true
  for (const [name, value] of Object.entries(values)) {
    const control = form.elements.namedItem(name) as HTMLInputElement | null
    if (!control || control.id === 'consent') continue
    if (control.type === 'checkbox') control.checked = /^(true|on|yes|1)$/i.test(value)
    else control.value = value
    isFilled &&= control.value === value
  }
  return isFilled
}

function field(
  id: string,
  label: readonly (string | Node)[],
  attributes: Readonly<Record<string, string>>,
): HTMLElement {
  const input = create('input', { id, name: id, ...attributes })
  return create('div', { class: 'field' }, create('label', { for: id }, ...label), input)
}
