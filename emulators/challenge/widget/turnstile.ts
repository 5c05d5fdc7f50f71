/** The emulated Turnstile script: `window.turnstile`. */
import { attributeOptions, call, type Options, script, textOf, whenLoaded } from './page.ts'
import { Widget } from './widget.ts'

const retryMs = 8_000
/** Codes for wrong settings of the page or the site, which no further try would mend. */
const finalErrors = '110'

const sizes: Readonly<Record<string, readonly [width: string, height: string]>> = {
  normal: ['300', '65'],
  flexible: ['100%', '65'],
  compact: ['150', '140'],
}

const choices: Readonly<Record<string, readonly string[]>> = {
  theme: ['auto', 'light', 'dark'],
  size: Object.keys(sizes),
  retry: ['auto', 'never'],
  'refresh-expired': ['auto', 'manual', 'never'],
  appearance: ['always', 'execute', 'interaction-only'],
}

const isLanguage = /^(auto|[a-z]{2,3}(-[a-z]{2,4})?)$/i

/** An error as the real script throws it. */
class TurnstileError extends Error {
  override readonly name = 'TurnstileError'

  constructor(message: string) {
    super(`[Cloudflare Turnstile] ${message}`)
  }
}

/** Throws for options that the real script refuses. */
function checkOptions(options: Options): void {
  const refuse = (name: string) => {
    throw new TurnstileError(`Invalid value for "${name}": ${JSON.stringify(options[name])}.`)
  }
  if (textOf(options, 'sitekey') === '') refuse('sitekey')
  if (!isLanguage.test(textOf(options, 'language', 'auto'))) refuse('language')
  for (const [name, allowed] of Object.entries(choices)) {
    const given = options[name]
    if (given !== undefined && !allowed.some((one) => one === given)) refuse(name)
  }
  for (const name of ['callback', 'error-callback', 'expired-callback']) {
    if (!['undefined', 'function'].includes(typeof options[name])) refuse(name)
  }
}

function create(container: HTMLElement, options: Options): Widget {
  const [width, height] = sizes[textOf(options, 'size', 'normal')] ?? ['300', '65']
  const widget: Widget = new Widget(
    {
      container,
      origin: script.origin,
      title: 'Widget containing an emulated Cloudflare challenge',
      width,
      height,
      fieldName: textOf(options, 'response-field-name', 'cf-turnstile-response'),
      isHidden: options['appearance'] === 'interaction-only',
      frame: {
        provider: 'turnstile',
        siteKey: textOf(options, 'sitekey'),
        language: textOf(options, 'language', 'auto'),
        theme: textOf(options, 'theme', 'auto'),
      },
    },
    {
      solved: (token) => void call(options, 'callback', token),
      failed(code) {
        const isHandled = call(options, 'error-callback', code)
        if (!isHandled) console.error(`[Cloudflare Turnstile] Error: ${code}.`)
        if (options['retry'] === 'never' || code.startsWith(finalErrors)) return
        widget.later(retryMs, () => widget.start())
      },
      expired() {
        call(options, 'expired-callback')
        const refresh = textOf(options, 'refresh-expired', 'auto')
        if (refresh === 'auto') widget.later(0, () => widget.start())
      },
    },
  )
  return widget
}

const widgets = new Map<string, Widget>()

/** Finds a widget by its id, or the first one. */
function find(id?: string): Widget {
  const found = id === undefined ? [...widgets.values()][0] : widgets.get(id)
  if (!found) throw new TurnstileError('Could not find the widget.')
  return found
}

const turnstile = {
  render(container: HTMLElement, given: Options = {}): string | undefined {
    const options = { ...attributeOptions(container), ...given }
    checkOptions(options)
    if ([...widgets.values()].some((widget) => widget.container === container)) {
      console.warn('[Cloudflare Turnstile] Turnstile was already rendered in this container.')
      return undefined
    }
    const id = `cf-chl-widget-${crypto.randomUUID()}`
    const widget = create(container, options)
    widgets.set(id, widget)
    widget.start()
    return id
  },
  reset: (id?: string) => find(id).start(),
  remove(id: string): void {
    find(id).remove()
    widgets.delete(id)
  },
  getResponse: (id?: string) => find(id).token || undefined,
  isExpired: (id?: string) => find(id).isExpired,
}

if ('turnstile' in window) {
  console.warn('[Cloudflare Turnstile] Turnstile has been loaded before.')
} else {
  Object.assign(window, { turnstile })
  whenLoaded('cf-turnstile', (element) => void turnstile.render(element))
}
