import type { Solution, SolveRequest } from '../emulator.ts'

/** What the frame is told, in its URL. */
export type FrameParameters = Omit<SolveRequest, 'ticked' | 'interactive'> & {
  readonly language: string
  readonly theme: string
}

/** What the frame tells its page. */
export type FrameMessage =
  | Exclude<Solution, { kind: 'silent' }>
  /** The box was ticked, and not ticked in time. */
  | { readonly kind: 'ticked' }
  | { readonly kind: 'timeout' }
