import { Worker } from 'node:worker_threads'

/** The thread that writes the write-ahead log of a file into its database. It starts when it is needed first. */
export class LogThread implements AsyncDisposable {
  readonly #program: URL
  readonly #file: string
  readonly #onFailure: () => void
  #worker: Worker | undefined
  #writing: PromiseWithResolvers<void> | undefined

  /**
   * @param program what the thread runs: it answers each message
   * @param onFailure called when the thread could not start, or has ended by itself
   */
  constructor(program: URL, file: string, onFailure: () => void) {
    this.#program = program
    this.#file = file
    this.#onFailure = onFailure
  }

  /** Lets the thread end what it does, and ends it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.rested()
    await this.#worker?.terminate()
  }

  /** Resolves when the thread does nothing. */
  async rested(): Promise<void> {
    while (this.#writing) await this.#writing.promise
  }

  /** Resolves when most of the log is written, or the thread has failed. */
  write(): Promise<void> {
    if (this.#writing) return this.#writing.promise
    try {
      this.#worker ??= this.#start()
    } catch {
      // The process may have no more threads.
      this.#onFailure()
      return Promise.resolve()
    }
    this.#writing = Promise.withResolvers()
    this.#worker.ref()
    this.#worker.postMessage(undefined)
    return this.#writing.promise
  }

  #start(): Worker {
    // Without flags and hooks of this process.
    const worker = new Worker(this.#program, { workerData: this.#file, execArgv: [] })
    const end = () => {
      worker.unref()
      this.#writing?.resolve()
      this.#writing = undefined
    }
    worker.on('message', end)
    worker.on('error', this.#onFailure)
    worker.on('exit', end)
    return worker
  }
}
