/** What the scripts of all providers have in common: their own tag, and the ways into them. */

type Callback = (...given: unknown[]) => unknown

const tag = document.currentScript instanceof HTMLScriptElement ? document.currentScript : undefined
const address = new URL(tag?.src ?? location.href)

export const script = {
  origin: address.origin,
  isDeferred: tag !== undefined && (tag.async || tag.defer),
  language: address.searchParams.get('hl') ?? 'auto',
  option: (name: string) => address.searchParams.get(name),
}

/** A function of the page by its name, as `onload=` and `data-callback` give it. */
function globalFunction(name: string): Callback | undefined {
  const value: unknown = (window as unknown as Record<string, unknown>)[name]
  return typeof value === 'function' ? (value as Callback) : undefined
}

/** Renders the elements of a class when the page is parsed, then calls the page's `onload`. */
export function whenLoaded(className: string, render: (element: HTMLElement) => void): void {
  const begin = () => {
    const onload = script.option('onload')
    if (script.option('render') !== 'explicit') {
      for (const element of document.querySelectorAll<HTMLElement>(`.${className}`)) render(element)
    }
    if (onload !== null) globalFunction(onload)?.()
  }
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', begin)
  else setTimeout(begin)
}

/** The element that a page names by a selector, an id, or itself. */
export function findElement(container: unknown): HTMLElement | undefined {
  if (container instanceof HTMLElement) return container
  if (typeof container !== 'string') return undefined
  try {
    return (
      document.getElementById(container) ??
      document.querySelector<HTMLElement>(container) ??
      undefined
    )
  } catch {
    return undefined
  }
}

/** Options from `data-` attributes: `data-response-field-name` is `response-field-name`. */
export function attributeOptions(element: HTMLElement): Record<string, unknown> {
  const entries = [...element.attributes]
    .filter(({ name }) => name.startsWith('data-'))
    .map(({ name, value }): [string, unknown] => {
      const option = name.slice('data-'.length)
      return [option, option.endsWith('callback') ? globalFunction(value) : value]
    })
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

export function callbackOf(options: Record<string, unknown>, name: string): Callback | undefined {
  const given = options[name]
  if (typeof given === 'function') return given as Callback
  return typeof given === 'string' ? globalFunction(given) : undefined
}

export function textOf(options: Record<string, unknown>, name: string, otherwise = ''): string {
  const given = options[name]
  return typeof given === 'string' ? given : otherwise
}
