import type { later } from './later.ts'
import { isOption } from './options.ts'

let server = `${location.origin}/`
/** That of our own script tag: under a strict CSP the challenge's script needs it, too. */
export let nonce = ''

/** With a pause after each: half a minute in all. */
const triesMax = 5

/** A page of our own has no tag of the embed to find the service by. */
export function serveFrom(address: string): void {
  server = address
}

/** Where signups of a server go; absent: of the one that the script came from. */
export function endpointOf(itsServer: string | undefined): string {
  return new URL('api/signup', itsServer?.replace(/\/?$/, '/') ?? server).href
}

/**
 * The part that is loaded with the first focus. A failed import is remembered by browsers, so each
 * try has an address of its own.
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

/** Each script tag with an option is a form: it is put where the tag stands, and only once. */
export function renderScripts(): void {
  const { currentScript } = document
  // In a module, or when another script has put ours into the page, nobody says which tag runs.
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
    // Without a form nobody would load what tells a slip.
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
