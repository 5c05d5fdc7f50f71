/** What the scripts of hCaptcha and reCAPTCHA have in common: a box, a token, an expiry. */
import { attributeOptions, callbackOf, findElement, script, textOf } from './page.ts'
import { Widget } from './widget.ts'

type Options = Readonly<Record<string, unknown>>
export type WidgetId = string | number

export interface CheckboxKind {
  readonly provider: 'hcaptcha' | 'recaptcha'
  /** For people, and in errors. */
  readonly title: string
  readonly fieldNames: readonly string[]
  readonly id: (count: number) => string
}

/** The widgets of a page. */
export class Checkboxes {
  readonly #kind: CheckboxKind
  readonly #widgets: Widget[] = []
  readonly #waiting = new Map<Widget, (token: string) => void>()
  #count = 0

  constructor(kind: CheckboxKind) {
    this.#kind = kind
  }

  render(container: unknown, given: Options = {}): string {
    const { title } = this.#kind
    const element = findElement(container)
    if (!element) throw new Error(`${title}: there is no element ${String(container)}`)
    if (this.#widgets.some((widget) => widget.container === element)) {
      throw new Error(`${title} has already been rendered in this element`)
    }
    const options = { ...attributeOptions(element), ...given }
    if (textOf(options, 'sitekey') === '') throw new Error(`${title}: missing sitekey`)
    const widget: Widget = this.#create(element, options)
    this.#widgets.push(widget)
    if (textOf(options, 'size') !== 'invisible') widget.start()
    return widget.id
  }

  /** By id; the first one when none is given. */
  find(id?: WidgetId): Widget {
    const widget =
      id === undefined ? this.#widgets[0] : this.#widgets.find((one) => one.id === String(id))
    if (!widget) throw new Error(`${this.#kind.title}: there is no widget ${String(id)}`)
    return widget
  }

  remove(id?: WidgetId): void {
    const widget = this.find(id)
    this.#widgets.splice(this.#widgets.indexOf(widget), 1)
    widget.remove()
  }

  /** Starts an invisible one; resolves with its token. */
  execute(id?: WidgetId): Promise<string> {
    const widget = this.find(id)
    if (widget.token !== '') return Promise.resolve(widget.token)
    const token = new Promise<string>((resolve) => this.#waiting.set(widget, resolve))
    if (!widget.isRunning) widget.start()
    return token
  }

  #create(container: HTMLElement, options: Record<string, unknown>): Widget {
    const { provider, title, fieldNames, id } = this.#kind
    const size = textOf(options, 'size', 'normal')
    const widget: Widget = new Widget(
      {
        id: id(this.#count++),
        container,
        origin: script.origin,
        title: `Widget containing an emulated ${title} challenge`,
        width: size === 'compact' ? '164' : '303',
        height: size === 'compact' ? '144' : '78',
        tabIndex: Number(options['tabindex'] ?? 0),
        fieldNames,
        isHidden: size === 'invisible',
        frame: {
          provider,
          siteKey: textOf(options, 'sitekey'),
          action: '',
          cdata: '',
          language: textOf(options, 'hl', script.language),
          theme: textOf(options, 'theme', 'light'),
        },
      },
      {
        solved: (token) => {
          this.#waiting.get(widget)?.(token)
          this.#waiting.delete(widget)
          callbackOf(options, 'callback')?.(token)
        },
        failed: (code) => void callbackOf(options, 'error-callback')?.(code),
        expired: () => void callbackOf(options, 'expired-callback')?.(),
        timedOut: () => void callbackOf(options, 'chalexpired-callback')?.(),
        askBegins: () => void callbackOf(options, 'open-callback')?.(),
        askEnds: () => void callbackOf(options, 'close-callback')?.(),
      },
    )
    return widget
  }
}
