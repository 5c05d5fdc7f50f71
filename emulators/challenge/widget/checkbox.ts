/** What the scripts of hCaptcha and reCAPTCHA share: a box, a token, and its end. */
import { attributeOptions, call, type Options, script, textOf } from './page.ts'
import { Widget } from './widget.ts'

export type WidgetId = string | number

export interface CheckboxKind {
  readonly provider: 'hcaptcha' | 'recaptcha'
  /** A name for people. */
  readonly title: string
  readonly fieldName: string
}

/** The widgets of a page. */
export class Checkboxes {
  readonly #kind: CheckboxKind
  readonly #widgets: Widget[] = []

  constructor(kind: CheckboxKind) {
    this.#kind = kind
  }

  /** Shows a widget. Its id is its number in the page. */
  render(element: HTMLElement, given: Options = {}): number {
    const { provider, title, fieldName } = this.#kind
    if (this.#widgets.some((widget) => widget.container === element)) {
      throw new Error(`${title} has already been rendered in this element`)
    }
    const options = { ...attributeOptions(element), ...given }
    if (textOf(options, 'sitekey') === '') throw new Error(`${title}: missing sitekey`)
    const isCompact = textOf(options, 'size') === 'compact'
    const id = this.#widgets.length
    const widget = new Widget(
      {
        container: element,
        origin: script.origin,
        title: `Widget containing an emulated ${title} challenge`,
        width: isCompact ? '164' : '303',
        height: isCompact ? '144' : '78',
        fieldName,
        isHidden: false,
        frame: {
          provider,
          siteKey: textOf(options, 'sitekey'),
          language: script.language,
          theme: textOf(options, 'theme', 'light'),
        },
      },
      {
        solved: (token) => void call(options, 'callback', token),
        failed: (code) => void call(options, 'error-callback', code),
        expired: () => void call(options, 'expired-callback'),
      },
    )
    this.#widgets.push(widget)
    widget.start()
    return id
  }

  /** Finds a widget by its id, or the first one. */
  find(id: WidgetId = 0): Widget {
    const widget = this.#widgets[Number(id)]
    if (!widget) throw new Error(`${this.#kind.title}: there is no widget ${String(id)}`)
    return widget
  }
}
