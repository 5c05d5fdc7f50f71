import { allTextKeys, didYouMean, nearest, optionsMeantBy } from './nearest.ts'
import { isOption, type Options, simpleOptions } from './options.ts'
import { kebab, nameAt, type Place, tell } from './tell.ts'
import { create } from './dom.ts'
import { languages } from './texts.ts'

/** Attributes that other tools put on script tags. */
const ofOtherTools =
  /^data-(v-|astro-|svelte-|react|rh$|n-head|hid$|nscript|cf|rocket|no-|minify|pagespeed|turbo|wp-|cookie|category|usercentrics|uc-|iub|borlabs|drupal|precedence|testid)/
/** Attributes that every element may have. */
const ofEveryElement = /^(class|id|style|lang|dir|title|slot|part|hidden|role|data-script)$/

const simple = simpleOptions.split('|')
const allOptions = [...simple, 'text-…', 'field-…']

/** Tells the author of a script tag which of its attributes are no options, and why it draws no form. */
export function checkTag(script: HTMLScriptElement): void {
  const names = [...script.attributes]
    .map(({ name }) => name)
    .filter((it) => it.startsWith('data-'))
  const options = names.filter(isOption)
  const result = options[0] ? '' : ', so this tag draws no form'
  for (const name of names) {
    if (isOption(name) || ofOtherTools.test(name)) continue
    tell(`${name} is not an option${result}.${adviceFor(name.slice(5), (it) => `data-${it}`)}`)
  }
  if (!options[0] || script.closest('body')) return
  const attributes = options.map((it) => ` ${it.slice(5)}="${script.getAttribute(it) ?? ''}"`)
  tell(
    'this tag is in <head>, where no form can be seen. Move it into <body>, to the place of the form, ' +
      `or put this there: <rollcall-form${attributes.join('')}></rollcall-form>`,
  )
}

/** Tells the page's author which options of a form are unknown or have a wrong value. */
export function checkOptions(options: Options, form: HTMLFormElement, place: Place): void {
  const { texts = {}, hidden = {} } = options
  for (const [option, given] of Object.entries<unknown>({ ...options })) {
    if (/^(texts|hidden|fields)$/.test(option)) continue
    const value = JSON.stringify(given ?? '').replace(/^"|"$/g, '')
    if (simple.includes(option)) {
      const problem = valueProblem(option, value)
      if (problem) tell(`${nameAt(place, option)} "${value}" ${problem}`)
    } else if (!place.hasAttribute(option)) {
      tell(`${option} is not an option.${adviceFor(option, (it) => nameAt(place, it))}`)
    } else if (!ofEveryElement.test(option)) {
      // Frameworks and other tools have attributes of their own, so tell only what looks like ours.
      const [, data = '', word = ''] = /^(data-)?(.+)$/.exec(option) ?? []
      const meant = optionsMeantBy(word).map((it) => data + it)
      if (meant[0]) tell(`${option} is not an option.${didYouMean(meant)}`)
    }
  }
  for (const key of Object.keys(texts)) {
    if (allTextKeys.includes(key)) continue
    const meant = nearest(key, allTextKeys).map((it) => nameAt(place, `text-${kebab(it)}`))
    tell(`${nameAt(place, `text-${kebab(key)}`)} is not a text of the form.${didYouMean(meant)}`)
  }
  for (const [field, value] of Object.entries(hidden)) {
    const problem = fieldProblem(form.elements.namedItem(field), value)
    if (problem) tell(`${nameAt(place, `field-${field}`)} "${value}" ${problem}`)
  }
}

function adviceFor(name: string, asWritten: (option: string) => string): string {
  const written = (option: string) =>
    option.startsWith('--') ? `the CSS property ${option}` : asWritten(option)
  const meant = optionsMeantBy(name).map(written)
  return didYouMean(meant) || ` The options are ${allOptions.map(written).join(', ')}.`
}

/** Why a field cannot have the value that its option gives it. */
function fieldProblem(control: Element | RadioNodeList | null, value: string): string | undefined {
  const first = control instanceof RadioNodeList ? (control[0] as Element) : control
  const several = first?.closest('[data-several]')
  if (several) {
    const options = [...several.querySelectorAll('input')].map((it) => it.value)
    const areThere = value.split(/ *, */).every((it) => options.includes(it))
    return areThere ? undefined : `is not one or several of ${options.join(', ')}.`
  }
  if (control instanceof HTMLInputElement && control.type === 'checkbox') {
    const isKnown = control.id === 'consent' || /^(true|on|yes|1|false|off|no|0|)$/i.test(value)
    return isKnown ? undefined : 'is not true or false.'
  }
  const { value: taken = value } = (control ?? {}) as { value?: string }
  if (taken === value) return undefined
  const choices =
    control instanceof HTMLSelectElement
      ? [...control.options].map((it) => it.value)
      : control instanceof RadioNodeList
        ? [...control].map((it) => it.value)
        : []
  const named = choices.filter(Boolean).join(', ')
  return named ? `is not one of ${named}.` : 'is not a value of this field.'
}

const tabCharactersMax = 100

/** What is wrong with the value of an option; undefined when it may be right. */
function valueProblem(option: string, value: string): string | undefined {
  if (value === '' || value === option) return undefined
  switch (option) {
    case 'tab':
      if (value.trim().length <= tabCharactersMax) return undefined
      return `is too long: the name of a tab may have at most ${tabCharactersMax} characters.`
    case 'theme':
      return notOneOf(['light', 'dark', 'auto'], value)
    case 'language':
      return notOneOf(languages.split('|'), value.slice(0, 2).toLowerCase())
    case 'name':
      return notOneOf(['required', 'true', 'false'], value)
    case 'utm':
      return notOneOf(['true', 'false'], value)
    case 'server':
      return /^(https?:|\/|\.)/.test(value) ? undefined : noAddress
    case 'redirect':
      return isLink(value) ? undefined : noAddress
    default:
      return undefined
  }
}

const noAddress = 'is not an address of a page: that begins with https:// or /.'

function notOneOf(right: readonly string[], value: string): string | undefined {
  if (right.includes(value)) return undefined
  return `is not one of ${right.join(', ')}.${didYouMean(nearest(value, right))}`
}

/** Whether a link leads where it seems to. Without `https://`, `www.example.com` is a path on the page's own server. */
function isLink(link: string): boolean {
  const { protocol } = create('a', { href: link })
  return /^https?:$/.test(protocol) && !/^www\.|^[\w-]+\.[\w.-]+\//i.test(link)
}
