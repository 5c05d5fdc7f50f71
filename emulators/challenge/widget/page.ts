/** What the scripts of all providers share: their own tag, the page's elements and its options. */

const tag = document.currentScript instanceof HTMLScriptElement ? document.currentScript : undefined
const address = new URL(tag?.src ?? location.href)

export const script = {
  origin: address.origin,
  language: address.searchParams.get('hl') ?? 'auto',
}

export type Options = Readonly<Record<string, unknown>>

/** Renders the elements of a class when the page is parsed, unless the script says `render=explicit`. */
export function whenLoaded(className: string, render: (element: HTMLElement) => void): void {
  if (address.searchParams.get('render') === 'explicit') return
  const begin = () => {
    for (const element of document.querySelectorAll<HTMLElement>(`.${className}`)) render(element)
  }
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', begin)
  else setTimeout(begin)
}

/** The `data-` attributes as options: `data-sitekey` is `sitekey`. */
export function attributeOptions({ attributes }: HTMLElement): Options {
  const entries = [...attributes].map(({ name, value }) => [name.replace('data-', ''), value])
  return Object.fromEntries(entries) as Options
}

/** Calls a callback among the options. Returns what it returns. */
export function call(options: Options, name: string, ...given: unknown[]): unknown {
  const callback = options[name] as ((...given: unknown[]) => unknown) | undefined
  return callback?.(...given)
}

export function textOf(options: Options, name: string, otherwise = ''): string {
  const given = options[name]
  return typeof given === 'string' ? given : otherwise
}
