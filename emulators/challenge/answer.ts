/** A request with its body read. */
export interface Call {
  readonly method: string
  readonly target: URL
  readonly contentType: string
  readonly body: string
}

/** An HTTP answer. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** The connection is closed without an answer. */
export const drop = Symbol('drop')
/** The connection stays open without an answer. */
export const hold = Symbol('hold')

export type Reply = Answer | typeof drop | typeof hold

export function jsonAnswer(status: number, body: unknown): Answer {
  return { status, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }
}

export function textAnswer(status: number, body: string): Answer {
  return { status, headers: { 'Content-Type': 'text/plain; charset=UTF-8' }, body }
}
