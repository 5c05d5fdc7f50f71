import { codeOf } from '../../platform/node/durable-file.ts'
import { visibleJson, visibleLines } from '../../platform/visible.ts'

/** Takes text or bytes, one chunk after the other. Resolves when the next chunk may come. */
export interface Sink {
  write(chunk: string | Uint8Array): Promise<void>
}

/** Nobody reads standard output any more, as after `| head`. */
export class OutputClosed extends Error {
  override readonly name = 'OutputClosed'
}

/**
 * Standard output. It waits for a slow reader, so that memory stays bounded. What people and visitors have
 * named rules no terminal, except by `data`.
 */
export class Output {
  /** For data, byte for byte. */
  readonly data: Sink = { write: (chunk) => this.#write(chunk) }
  readonly #stream: NodeJS.WritableStream

  constructor(stream: NodeJS.WritableStream) {
    this.#stream = stream
    // `write` reports the error.
    stream.on('error', () => {})
  }

  /** Whether a person sees the output at once. */
  get isTerminal(): boolean {
    return 'isTTY' in this.#stream && this.#stream.isTTY === true
  }

  /**
   * Writes a text for people.
   *
   * @throws OutputClosed when nobody reads any more; Error when the output cannot be written
   */
  write(text: string): Promise<void> {
    return this.#write(visibleLines(text))
  }

  lines(...lines: readonly string[]): Promise<void> {
    return this.write(lines.map((line) => `${line}\n`).join(''))
  }

  json(value: unknown, spaces = 2): Promise<void> {
    return this.#write(`${visibleJson(JSON.stringify(value, null, spaces))}\n`)
  }

  #write(chunk: string | Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#stream.write(chunk, (error) => (error ? reject(toOutputError(error)) : resolve()))
    })
  }
}

function toOutputError(error: Error): Error {
  if (['EPIPE', 'ERR_STREAM_DESTROYED'].includes(codeOf(error) ?? ''))
    return new OutputClosed('The output was closed.', { cause: error })
  return new Error(
    `Standard output cannot be written: ${error.message}. Make room on the disk, or write to another place.`,
    { cause: error },
  )
}
