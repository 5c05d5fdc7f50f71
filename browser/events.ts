import type { Problem, SignupAccepted } from '../src/signup/wire.ts'

/** The events of a form, each with `rollcall:` in front. */
export const eventNames = ['submit', 'success', 'error'] as const

/** What each event tells. The types for frameworks in examples/types/ say the same. */
export interface EventDetails extends Record<(typeof eventNames)[number], unknown> {
  /** The fields that will be sent. A page may change them. */
  readonly submit: { readonly data: URLSearchParams }
  readonly success: SignupAccepted
  /** `reason` is `fields`, or the key of the text that the visitor reads. */
  readonly error: {
    readonly reason: string
    readonly status: number | undefined
    readonly problem: Problem | undefined
  }
}

/** Dispatches an event. Returns false when the page has cancelled it. */
export function dispatch<Name extends (typeof eventNames)[number]>(
  target: HTMLElement,
  name: Name,
  detail: EventDetails[Name],
): boolean {
  const options = { detail, bubbles: true, composed: true, cancelable: true }
  return target.dispatchEvent(new CustomEvent(`rollcall:${name}`, options))
}
