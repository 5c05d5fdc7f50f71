import { codeOf } from '../../platform/node/durable-file.ts'
import { visibleJson, visibleLines } from '../../platform/visible.ts'

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
  readonly data = { write: (chunk: string | Uint8Array) => this.#write(chunk) }
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

  /** Writes one JSON object: these facts, and a list of this name whose items come bit by bit, each as a line. */
  async jsonOf(facts: object, name: string, items: AsyncIterable<unknown>): Promise<void> {
    let before = `${JSON.stringify(facts).slice(0, -1)},"${name}":[`
    for await (const item of items) {
      await this.#write(visibleJson(`${before}\n${JSON.stringify(item)}`))
      before = ','
    }
    await this.#write(visibleJson(`${before === ',' ? '' : before}\n]}\n`))
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
