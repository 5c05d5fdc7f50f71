import type { Solution, SolveRequest } from '../emulator.ts'

/** What the frame's address says. */
export type FrameParameters = Omit<SolveRequest, 'ticked'> & {
  readonly language: string
  readonly theme: string
}

export interface WidgetOptions {
  /** The origin of the script, which is also that of the frame. */
  readonly origin: string
  readonly container: HTMLElement
  readonly frame: Omit<FrameParameters, 'hostname'>
  readonly title: string
  readonly width: string
  readonly height: string
  /** The name of the form field with the token. */
  readonly fieldName: string
  /** Whether the frame shows only when the visitor has to tick its box. */
  readonly isHidden: boolean
}

/** Events of a widget, which each script turns into the callbacks of its provider. */
export interface WidgetEvents {
  solved(token: string): void
  failed(code: string): void
  expired(): void
}

/** A widget in the page: a frame of the emulator's origin, and a hidden field with the token. */
export class Widget {
  readonly container: HTMLElement
  isExpired = false
  readonly #options: WidgetOptions
  readonly #events: WidgetEvents
  readonly #root = document.createElement('div')
  readonly #field = document.createElement('input')
  #frame: HTMLIFrameElement | undefined
  #timer: number | undefined

  constructor(options: WidgetOptions, events: WidgetEvents) {
    this.container = options.container
    this.#options = options
    this.#events = events
    this.#field.type = 'hidden'
    this.#field.name = options.fieldName
    this.#root.append(this.#field)
    this.container.append(this.#root)
    addEventListener('message', this.#listen)
  }

  /** The token, or '' without one. */
  get token(): string {
    return this.#field.value
  }

  /** Begins a new attempt and drops the token of the last one. */
  start(): void {
    this.#stop()
    const { frame, title, width, height, isHidden, origin } = this.#options
    const parameters: FrameParameters = { ...frame, hostname: location.hostname }
    const src = `${origin}/widget/frame?${new URLSearchParams({ ...parameters })}`
    const iframe = document.createElement('iframe')
    this.#frame = Object.assign(iframe, { src, title, width, height, hidden: isHidden })
    this.#root.prepend(this.#frame)
  }

  /** Removes everything from the page. No callback comes afterwards. */
  remove(): void {
    this.#stop()
    removeEventListener('message', this.#listen)
    this.#root.remove()
  }

  /** Runs `work` later, unless a new attempt begins or the widget is removed before. */
  later(ms: number, work: () => void): void {
    clearTimeout(this.#timer)
    this.#timer = window.setTimeout(work, ms)
  }

  #stop(): void {
    clearTimeout(this.#timer)
    this.#frame?.remove()
    this.isExpired = false
    this.#field.value = ''
  }

  readonly #listen = (event: MessageEvent<Solution>): void => {
    const isOurs = this.#frame !== undefined && event.source === this.#frame.contentWindow
    if (isOurs && event.origin === this.#options.origin) this.#take(event.data)
  }

  #take(solution: Solution): void {
    switch (solution.kind) {
      case 'token':
        this.#field.value = solution.token
        this.later(solution.lifeMs, () => this.#expire())
        this.#events.solved(solution.token)
        break
      case 'error':
        this.#events.failed(solution.code)
        break
      case 'interactive':
        if (this.#frame) this.#frame.hidden = false
        break
    }
  }

  #expire(): void {
    this.isExpired = true
    this.#field.value = ''
    this.#events.expired()
  }
}
