/** The emulated Turnstile script: `window.turnstile`, as the real one offers it. */
import { attributeOptions, callbackOf, findElement, script, textOf, whenLoaded } from './page.ts'
import { checkOptions, type Options, TurnstileError } from './turnstile-options.ts'
import { Widget } from './widget.ts'

const defaultRetryMs = 8_000
/** Nothing that a further try would mend: settings of the page or of the site. */
const finalErrors = /^(100|105|110[0-4]|1105|120|200)/

const sizes: Readonly<Record<string, readonly [width: string, height: string]>> = {
  normal: ['300', '65'],
  flexible: ['100%', '65'],
  compact: ['150', '140'],
  invisible: ['0', '0'],
}

class TurnstileWidget {
  readonly widget: Widget
  readonly #options: Options

  constructor(id: string, container: HTMLElement, options: Options) {
    this.#options = options
    const [width = '300', height = '65'] = sizes[textOf(options, 'size', 'normal')] ?? []
    const hasField = options['response-field'] !== false && options['response-field'] !== 'false'
    this.widget = new Widget(
      {
        id,
        container,
        origin: script.origin,
        title: 'Widget containing an emulated Cloudflare challenge',
        width,
        height,
        tabIndex: Number(options['tabindex'] ?? 0),
        fieldNames: hasField
          ? [textOf(options, 'response-field-name', 'cf-turnstile-response')]
          : [],
        isHidden: this.#text('appearance', 'always') === 'interaction-only',
        frame: {
          provider: 'turnstile',
          siteKey: this.#text('sitekey'),
          action: this.#text('action'),
          cdata: this.#text('cData', this.#text('cdata')),
          language: this.#text('language', 'auto'),
          theme: this.#text('theme', 'auto'),
        },
      },
      {
        solved: (token) => void this.#call('callback', token),
        failed: (code) => this.#failed(code),
        expired: () => {
          this.#call('expired-callback')
          if (this.#text('refresh-expired', 'auto') === 'auto') this.widget.later(0, this.#restart)
        },
        timedOut: () => {
          this.#call('timeout-callback')
          if (this.#text('refresh-timeout', 'auto') === 'auto') this.widget.later(0, this.#restart)
        },
        askBegins: () => void this.#call('before-interactive-callback'),
        askEnds: () => void this.#call('after-interactive-callback'),
      },
    )
    if (this.#text('execution', 'render') === 'render') this.widget.start()
  }

  readonly #restart = (): void => this.widget.start()

  #failed(code: string): void {
    const callback = callbackOf(this.#options, 'error-callback')
    if (!callback) reportError(new TurnstileError(`Error: ${code}.`, Number(code)))
    else if (!callback(code)) console.warn(`[Cloudflare Turnstile] Error: ${code}.`)
    if (this.#text('retry', 'auto') === 'never' || finalErrors.test(code)) return
    this.widget.later(Number(this.#options['retry-interval'] ?? defaultRetryMs), this.#restart)
  }

  #call(name: string, ...given: unknown[]): unknown {
    return callbackOf(this.#options, name)?.(...given)
  }

  #text(name: string, otherwise = ''): string {
    return textOf(this.#options, name, otherwise)
  }
}

const widgets: TurnstileWidget[] = []
let count = 0

/** By id or by container; the first one when nothing is given. */
function find(which?: unknown): TurnstileWidget | undefined {
  if (which === undefined) return widgets[0]
  const container = findElement(which)
  return widgets.find(({ widget }) => widget.id === which || widget.container === container)
}

function existing(which: unknown, code: number): Widget {
  const found = find(which)
  if (!found) throw new TurnstileError('Could not find the widget.', code)
  return found.widget
}

const turnstile = {
  render(container: unknown, options: Options = {}): string | undefined {
    const element = findElement(container)
    if (!element) throw new TurnstileError(`There is no element ${String(container)}.`, 3585)
    const merged = { ...attributeOptions(element), ...options }
    checkOptions(merged)
    if (widgets.some(({ widget }) => widget.container === element)) {
      console.warn('[Cloudflare Turnstile] Turnstile was already rendered in this container.')
      return undefined
    }
    count += 1
    const id = `cf-chl-widget-${count}`
    widgets.push(new TurnstileWidget(id, element, merged))
    return id
  },
  reset(which?: unknown): void {
    const found = find(which)
    if (found) found.widget.start()
    else console.warn('[Cloudflare Turnstile] Nothing to reset was found.')
  },
  remove(which?: unknown): void {
    const found = find(which)
    if (!found) {
      console.warn('[Cloudflare Turnstile] Nothing to remove was found.')
      return
    }
    widgets.splice(widgets.indexOf(found), 1)
    found.widget.remove()
  },
  getResponse(which?: unknown): string | undefined {
    const { token, isExpired } = existing(which, 43794)
    if (isExpired) console.warn('[Cloudflare Turnstile] The token has expired: call reset().')
    return token === '' ? undefined : token
  },
  isExpired(which?: unknown): boolean {
    return existing(which, 43778).isExpired
  },
  execute(which?: unknown, options?: Options): void {
    if (!find(which) && options !== undefined) turnstile.render(which, options)
    const found = find(which)
    if (!found) throw new TurnstileError('Could not find the widget to execute.', 43521)
    const { widget } = found
    if (widget.token !== '') {
      console.warn('[Cloudflare Turnstile] There is a token already: call reset() first.')
    } else if (!widget.isRunning) widget.start()
  },
  ready(callback: unknown): void {
    if (script.isDeferred) {
      throw new TurnstileError('ready() does not go with async or defer: use onload=.', 3857)
    }
    if (typeof callback !== 'function') throw new TurnstileError('ready() needs a function.', 3841)
    setTimeout(callback as () => void)
  },
}

const page = window as unknown as { turnstile?: typeof turnstile }
if (page.turnstile) console.warn('[Cloudflare Turnstile] Turnstile has been loaded before.')
else {
  page.turnstile = turnstile
  whenLoaded('cf-turnstile', (element) => void turnstile.render(element))
}
