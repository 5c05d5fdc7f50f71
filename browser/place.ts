import type { later } from './later.ts'
import { isOption } from './options.ts'

let server = `${location.origin}/`
/** The nonce of our own script tag. Under a strict CSP the challenge's script needs it, too. */
export let nonce = ''

/** How often to try to load the rest of the script. All tries with their pauses take half a minute. */
const triesMax = 5

/** Sets the address of the service on our own pages, which have no script tag of the embed. */
export function serveFrom(address: string): void {
  server = address
}

/** The address for signups of a server; when absent, of the server that the script came from. */
export function endpointOf(itsServer: string | undefined): string {
  return new URL('api/signup', itsServer?.replace(/\/?$/, '/') ?? server).href
}

/**
 * Loads the rest of the script at the first focus. Browsers remember a failed import, so each try uses
 * another address.
 */
export async function loadLater(): Promise<typeof later> {
  for (let tries = 0; ; tries++) {
    try {
      const address = `${server}embed/later.js${'?'.repeat(tries)}`
      return ((await import(address)) as { later: typeof later }).later
    } catch (error) {
      if (tries === triesMax) throw error
      await new Promise((resolve) => setTimeout(resolve, 1000 * 2 ** tries))
    }
  }
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
    const options = [...script.attributes].filter(({ name }) => isOption(name))
    const isThere = script.nextElementSibling?.hasAttribute('data-script')
    const isMeantForUs = [...script.attributes].some(({ name }) => name.startsWith('data-'))
    // There is no form that would load the check for mistakes, so load it here.
    if (options.length === 0 && isMeantForUs) {
      void loadLater().then(({ tellMistakes }) => tellMistakes(script), String)
    }
    if (options.length === 0 || isThere || !document.body.contains(script)) continue
    const form = document.createElement('rollcall-form')
    form.setAttribute('data-script', '')
    form.setAttribute('server', server)
    for (const { name, value } of options) form.setAttribute(name, value)
    script.after(form)
  }
}
