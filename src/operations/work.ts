import type { AdminLog, Work } from '../journal/tables/admin-log.ts'
import { type Clock, everySo, second } from '../platform/clock.ts'
import type { Millis } from '../signup/signup.ts'

const atOnceMax = 3
const noteMs = second
const goneMs = 30 * second
/** How long a start waits for the end, which is there at once for a few signups. */
const momentMs = 3 * second

const words = {
  failed: 'It failed, and the log says why. Start it again: what is done stays done.',
  stopped: 'It was stopped with the service. Start it again: what is done stays done.',
}

export interface WorkOptions {
  readonly log: AdminLog
  readonly clock: Pick<Clock, 'elapsed' | 'sleep'>
  /** The wall clock that all instances share. */
  readonly now: () => Millis
  readonly failed: (error: unknown) => void
}

/** Does a piece of work, which can be repeated. Returns what came of it in sentences without personal data. */
export type Doing = (task: {
  readonly stop: AbortSignal
  readonly progress: (done: number) => void
}) => Promise<readonly string[]>

/** Does work in the background, and notes how it fares for all instances. Disposing stops it. */
export class WorkRunner implements AsyncDisposable {
  readonly #options: WorkOptions
  readonly #stopping = new AbortController()
  readonly #running = new Set<Promise<void>>()

  constructor(options: WorkOptions) {
    this.#options = options
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    await Promise.all(this.#running)
  }

  /**
   * Begins it, and notes so. Resolves with its id as soon as it has ended, or after a moment; with undefined when
   * three run in this process already.
   */
  async start(
    kind: string,
    doing: Doing,
  ): Promise<{ readonly id: string; readonly hasEnded: boolean } | undefined> {
    if (this.#running.size >= atOnceMax || this.#stopping.signal.aborted) return undefined
    const { log, now, clock } = this.#options
    const task = { id: crypto.randomUUID(), kind, madeAt: now(), done: 0 }
    const note = (state: Work['state'], report = '') =>
      log.noteWork({ ...task, seenAt: now(), state, report })
    const noted = note('running')
    const ended = new AbortController()
    const running = noted
      .then(
        () => this.#run(doing, note, (done) => (task.done = done)),
        () => undefined,
      )
      .finally(() => {
        this.#running.delete(running)
        ended.abort()
      })
    this.#running.add(running)
    await noted
    await clock.sleep(momentMs, ended.signal)
    return { id: task.id, hasEnded: ended.signal.aborted }
  }

  async #run(
    doing: Doing,
    note: (state: Work['state'], report?: string) => Promise<void>,
    progress: (done: number) => void,
  ): Promise<void> {
    const { clock, failed } = this.#options
    const stop = this.#stopping.signal
    const noting = everySo(clock, noteMs, () => note('running'), failed)
    let end: readonly [Work['state'], string]
    try {
      end = ['done', (await doing({ stop, progress })).join('\n')]
    } catch (error) {
      if (!stop.aborted) failed(error)
      end = ['failed', stop.aborted ? words.stopped : words.failed]
    }
    await noting[Symbol.asyncDispose]()
    await note(...end).catch(failed)
  }
}

/** How a piece of work stands now: one whose process has ended does not run any more. */
export function standingOf(work: Work, now: Millis): Pick<Work, 'state' | 'report'> {
  const isGone = work.state === 'running' && now - work.seenAt > goneMs
  return isGone ? { state: 'failed', report: words.stopped } : work
}
