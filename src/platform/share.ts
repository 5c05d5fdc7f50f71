/** The part of a shared resource that one client may use. */
export interface Share {
  readonly client: string
  /** Above 0 and at most 1. */
  readonly part: number
}
