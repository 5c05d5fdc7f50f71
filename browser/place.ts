import type { Author } from './author.ts'
import type { createController } from './controller.ts'
import { create } from './dom.ts'
import { isOption } from './options.ts'

interface Later {
  readonly createController: typeof createController
}

let server = `${location.origin}/`
/** The nonce of our own script tag. Under a strict CSP the challenge's script needs it, too. */
export let nonce = ''

/** How often to try to load a part of the script. All tries with their pauses take half a minute. */
const triesMax = 5

/** Sets the address of the service on our own pages, which have no script tag of the embed. */
export function serveFrom(address: string): void {
  server = address
}

/** The address for signups of a server; when absent, of the server that the script came from. */
export function endpointOf(itsServer = ''): string {
  return new URL('api/signup', new URL(itsServer.replace(/[^/]$/, '$&/'), server)).href
}

/** Loads a part of the script. Browsers remember a failed import, so each try uses another address. */
async function load<Part>(name: string): Promise<Part> {
  for (let tries = 0; ; tries++) {
    try {
      return (await import(`${server}embed/${name}.js${'?'.repeat(tries)}`)) as Part
    } catch (error) {
      if (tries === triesMax) throw error
      await new Promise((resolve) => setTimeout(resolve, 1000 * 2 ** tries))
    }
  }
}

/** Loads the code that a form needs from the first focus on. */
export const loadLater = () => load<Later>('later')

/** Tells the page's author of a mistake in the console, by code that is loaded only then. */
export function tellAuthor(tell: (author: Author) => unknown): void {
  load<{ readonly author: Author }>('author').then(({ author }) => tell(author), String)
}

/** Renders a form at each script tag in the body, once for each tag. */
export function renderScripts(): void {
  const { currentScript } = document
  // In a module, or when another script added our tag, the browser does not tell which tag is running.
  const scripts =
    currentScript instanceof HTMLScriptElement
      ? [currentScript]
      : document.querySelectorAll<HTMLScriptElement>('script[src*="/embed.js"]')
  for (const script of scripts) {
    server = new URL('.', script.src).href
    nonce ||= script.nonce
    const given = script.getAttributeNames().filter((it) => it.startsWith('data-'))
    const draw = () => {
      if (script.nextElementSibling?.hasAttribute('data-script')) return
      const form = create('rollcall-form' as 'div', { 'data-script': '', server })
      for (const name of given) form.setAttribute(name, script.getAttribute(name) ?? '')
      script.after(form)
    }
    const isShown = script.closest('body')
    if (isShown) whenRight(given.some(isOption), draw)
    if (!given.every(isOption) || (!isShown && given[0])) tellAuthor((it) => it.tag(script))
  }
}

/** Without options the tag draws the form of a page that has none. That is known when its scripts have run. */
function whenRight(hasOptions: boolean, draw: () => void): void {
  const look = () => {
    if (!document.querySelector('rollcall-form,.rollcall-done')) draw()
  }
  if (hasOptions) draw()
  else if (document.readyState === 'loading') addEventListener('DOMContentLoaded', look)
  else setTimeout(look)
}
