/** Types of `<rollcall-form>`, of its events and of `window.Rollcall`. Beside it belongs the file of your framework. */

/** The attributes. Each is told in docs/forms.md. */
export interface RollcallAttributes {
  /** A text of the form: `text-submit`, `text-email-missing`. */
  [text: `text-${string}`]: string | undefined
  /** The value of a field. */
  [field: `field-${string}`]: string | undefined
  site?: string | undefined
  tab?: string | undefined
  source?: string | undefined
  tags?: string | undefined
  name?: boolean | 'required' | 'true' | 'false' | undefined
  consent?: string | undefined
  language?: string | undefined
  theme?: 'light' | 'dark' | 'auto' | undefined
  redirect?: string | undefined
  utm?: boolean | 'true' | 'false' | undefined
  server?: string | undefined
}

/** The events. All bubble, and `preventDefault()` keeps the form from what it does next. */
export interface RollcallEvents {
  'rollcall:submit': CustomEvent<{ readonly data: URLSearchParams }>
  'rollcall:success': CustomEvent<{
    readonly id: string
    readonly status: 'pending' | 'accepted' | 'written' | 'expired'
    readonly sheetTab: string
    readonly receivedAt: string
    /** Set when all seats were taken: it is on the waiting list. */
    readonly overflow?: true
  }>
  'rollcall:error': CustomEvent<{
    readonly reason: string
    readonly status: number | undefined
    readonly problem: { readonly detail: string; readonly requestId: string } | undefined
  }>
}

/** The events as the properties of a component: `onrollcall:success`. */
export type RollcallHandlers = {
  [Name in keyof RollcallEvents as `on${Name}`]?:
    ((event: RollcallEvents[Name]) => void) | undefined
}

/** What `Rollcall.render` and `Rollcall.enhance` take. */
export interface RollcallOptions extends Omit<
  RollcallAttributes,
  'tags' | `text-${string}` | `field-${string}`
> {
  tags?: string | readonly string[] | undefined
  texts?: Readonly<Record<string, string>> | undefined
  fields?: {
    name?: boolean | 'required' | undefined
    hidden?: Readonly<Record<string, string>> | undefined
  }
}

export interface RollcallHandle {
  readonly reset: () => void
  readonly remove: () => void
}

export interface RollcallElement extends HTMLElement {
  /** These win over the attributes. Set them before the element is in the page. */
  options: RollcallOptions
  reset(): void
}

declare global {
  interface Window {
    readonly Rollcall: {
      render(
        element: Element,
        options?: RollcallOptions,
      ): RollcallHandle & { readonly element: RollcallElement }
      enhance(form: HTMLFormElement, options?: RollcallOptions): RollcallHandle
    }
  }
  interface HTMLElementTagNameMap {
    'rollcall-form': RollcallElement
  }
  interface GlobalEventHandlersEventMap extends RollcallEvents {}
}
