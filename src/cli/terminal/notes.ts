import type { Clock } from '../../platform/clock.ts'
import { visibleLines } from '../../platform/visible.ts'
import { digits } from '../../platform/digits.ts'

/** How often the bar on a terminal moves, and how often another reader gets a line. */
const barEveryMs = 100
const lineEveryMs = 10_000
const barWidth = 24

export interface Progress extends Disposable {
  /** Says how many are done. Cheap: most calls print nothing. */
  at(done: number): void
}

/**
 * What a command tells the person who runs it, on standard error: sentences, and how far it has come.
 * Nothing personal belongs here, because it may go to a log. A closed or full standard error stops no
 * command.
 */
export class Notes {
  readonly #stream: NodeJS.WritableStream
  readonly #clock: Pick<Clock, 'elapsed'>
  readonly #isTerminal: boolean
  /** The text of the bar that is on the terminal now. */
  #bar = ''

  constructor(stream: NodeJS.WritableStream, clock: Pick<Clock, 'elapsed'>) {
    this.#stream = stream
    this.#clock = clock
    this.#isTerminal = 'isTTY' in stream && stream.isTTY === true
    stream.on('error', () => {})
  }

  /** Prints a line. A bar moves down. */
  tell(text: string): void {
    const bar = this.#bar
    this.#draw('')
    this.#stream.write(`${visibleLines(text)}\n`)
    this.#draw(bar)
  }

  /**
   * Shows progress: a bar on a terminal, and elsewhere a line every ten seconds. Dispose of it at the
   * end. @param what "signups imported", for example @param total undefined when it is not known
   */
  progress(what: string, total?: number): Progress {
    let shownAt = this.#isTerminal ? -Infinity : this.#clock.elapsed()
    return {
      at: (done) => {
        const now = this.#clock.elapsed()
        if (now - shownAt < (this.#isTerminal ? barEveryMs : lineEveryMs)) return
        shownAt = now
        if (this.#isTerminal) this.#draw(progressText(what, done, total, barWidth))
        else this.#stream.write(`${progressText(what, done, total)}\n`)
      },
      [Symbol.dispose]: () => this.#draw(''),
    }
  }

  #draw(text: string): void {
    if (text === this.#bar) return
    this.#stream.write(`\r${text.padEnd(this.#bar.length)}${text === '' ? '\r' : ''}`)
    this.#bar = text
  }
}

function progressText(what: string, done: number, total?: number, width = 0): string {
  if (total === undefined) return `${digits(done)} ${what}`
  // Signups may come while they are counted.
  const share = total === 0 ? 1 : Math.min(1, done / total)
  const bar = width > 0 ? `[${'#'.repeat(share * width).padEnd(width)}] ` : ''
  return `${bar}${digits(done)} of ${digits(total)} ${what} (${Math.floor(share * 100)} %)`
}
