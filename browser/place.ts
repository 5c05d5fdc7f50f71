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

/** Renders a form at each script tag that has an option, once for each tag. */
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
    const given = [...script.attributes].filter(({ name }) => name.startsWith('data-'))
    const options = given.filter(({ name }) => isOption(name))
    const isShown = options[0] && script.closest('body')
    if (given.length > options.length || (options[0] && !isShown)) {
      tellAuthor((it) => it.checkTag(script))
    }
    if (!isShown || script.nextElementSibling?.hasAttribute('data-script')) continue
    const form = create('rollcall-form' as 'div', { 'data-script': '', server })
    for (const { name, value } of options) form.setAttribute(name, value)
    script.after(form)
  }
}
