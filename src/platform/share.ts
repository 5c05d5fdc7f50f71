/** What one client may hold of something that is there for all. */
export interface Share {
  readonly client: string
  /** Over 0, up to 1. */
  readonly part: number
}
