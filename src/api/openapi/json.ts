/** A part of the document, as JSON. */
export type Json = Readonly<Record<string, unknown>>

export interface Operation extends Json {
  readonly operationId: string
  readonly responses: Json
}

/** What one path takes. */
export interface PathItem {
  readonly get?: Operation
  readonly post?: Operation
  readonly parameters?: readonly Json[]
}
