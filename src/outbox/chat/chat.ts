/** What is different in each chat program. */
export interface Chat {
  /** The most that a message may have, in UTF-16 units. */
  readonly charactersMax: number
  /** The line so that nothing in it mentions anybody, links or formats. */
  escape(line: string): string
  /**
   * What is posted, for JSON.
   *
   * @param lines escaped
   * @param query of the URL
   */
  body(lines: readonly string[], query: URLSearchParams): object
  /** Whether the query goes into the body alone. */
  readonly isQueryInBody?: boolean
}

/** As code in a line: programs with a kind of Markdown take such a text as it is. */
export function codeOf(line: string): string {
  return `\`${line.replaceAll('`', 'ˋ')}\``
}
