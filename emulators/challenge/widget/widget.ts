import type { FrameMessage, FrameParameters } from './messages.ts'

export interface WidgetOptions {
  /** Where the script came from; the frame comes from there as well. */
  readonly origin: string
  readonly id: string
  readonly container: HTMLElement
  readonly frame: Omit<FrameParameters, 'hostname'>
  readonly title: string
  readonly width: string
  readonly height: string
  readonly tabIndex: number
  /** Names of the fields that carry the token in a form. */
  readonly fieldNames: readonly string[]
  readonly isHidden: boolean
}

/** What happens to a widget; each provider's script turns it into its own callbacks. */
export interface WidgetEvents {
  solved(token: string): void
  failed(code: string): void
  expired(): void
  timedOut(): void
  askBegins(): void
  askEnds(): void
}

/** A widget in the page: a frame of the emulator's origin, and hidden fields with the token. */
export class Widget {
  readonly id: string
  readonly container: HTMLElement
  token = ''
  isExpired = false
  isRunning = false
  readonly #options: WidgetOptions
  readonly #events: WidgetEvents
  readonly #root = document.createElement('div')
  readonly #fields: readonly HTMLInputElement[]
  #frame: HTMLIFrameElement | undefined
  #timer: number | undefined

  constructor(options: WidgetOptions, events: WidgetEvents) {
    this.id = options.id
    this.container = options.container
    this.#options = options
    this.#events = events
    this.#fields = options.fieldNames.map((name, index) => {
      const field = document.createElement('input')
      field.type = 'hidden'
      field.name = name
      field.id = `${options.id}_response${index === 0 ? '' : index}`
      return field
    })
    this.#root.append(...this.#fields)
    this.container.append(this.#root)
    addEventListener('message', this.#listen)
  }

  /** Begins a new attempt; the token of the last one is dropped. */
  start(): void {
    this.stop()
    const { frame, title, width, height, tabIndex, isHidden, origin } = this.#options
    const iframe = document.createElement('iframe')
    const parameters: FrameParameters = { ...frame, hostname: location.hostname }
    iframe.src = `${origin}/widget/frame?${new URLSearchParams({ ...parameters })}`
    iframe.title = title
    iframe.width = width
    iframe.height = height
    iframe.tabIndex = tabIndex
    iframe.hidden = isHidden
    this.#frame = iframe
    this.isRunning = true
    this.#root.prepend(iframe)
  }

  /** Drops the frame and the token. */
  stop(): void {
    clearTimeout(this.#timer)
    this.#frame?.remove()
    this.#frame = undefined
    this.isRunning = false
    this.isExpired = false
    this.#setToken('')
  }

  /** As after `remove()`: nothing is left in the page, and no callback comes any more. */
  remove(): void {
    this.stop()
    removeEventListener('message', this.#listen)
    this.#root.remove()
  }

  /** Runs `work` later, unless a new attempt begins or the widget is removed before. */
  later(ms: number, work: () => void): void {
    clearTimeout(this.#timer)
    this.#timer = window.setTimeout(work, ms)
  }

  readonly #listen = (event: MessageEvent<FrameMessage>): void => {
    const isOurs = this.#frame !== undefined && event.source === this.#frame.contentWindow
    if (isOurs && event.origin === this.#options.origin) this.#take(event.data)
  }

  #take(message: FrameMessage): void {
    switch (message.kind) {
      case 'token':
        this.isRunning = false
        this.#setToken(message.token)
        this.later(message.lifeMs, () => this.#expire())
        this.#events.solved(message.token)
        break
      case 'error':
        this.isRunning = false
        this.#events.failed(message.code)
        break
      case 'interactive':
        if (this.#frame) this.#frame.hidden = false
        this.#events.askBegins()
        break
      case 'ticked':
        this.#events.askEnds()
        break
      case 'timeout':
        this.isRunning = false
        this.#events.timedOut()
        break
    }
  }

  #expire(): void {
    this.isExpired = true
    this.#setToken('')
    this.#events.expired()
  }

  #setToken(token: string): void {
    this.token = token
    for (const field of this.#fields) field.value = token
  }
}
