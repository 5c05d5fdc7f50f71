import type { CallKind } from './route.ts'

/** One call to the emulator. */
export interface LoggedCall {
  readonly time: string
  readonly path: string
  readonly kind: CallKind
  readonly access: 'read' | 'write' | undefined
  /** What the client saw. */
  status: number | 'dropped' | 'pending'
  /**
   * What the emulator did, whatever the client saw. `late`: it will apply the call later. `known`: it has
   * developer metadata with the id of the call, and refused it.
   */
  applied: 'yes' | 'no' | 'late' | 'twice' | 'known'
  /** The kinds of the requests of a batch. */
  readonly requests: readonly string[]
  /** The number of rows in all `appendCells` of a batch. */
  readonly rows: number
  /** Describes the fault that met the call. */
  readonly fault: string | undefined
  /** Set only when the emulator was told to keep bodies. */
  readonly body: unknown
}

export interface CallCounters {
  readonly reads: number
  readonly writes: number
  readonly tokens: number
}

const callsKeptMax = 10_000

/** The last calls, and counts of all calls since the start or the last reset. */
export class CallLog {
  #calls: LoggedCall[] = []
  readonly #counters = { reads: 0, writes: 0, tokens: 0 }

  add(call: LoggedCall): LoggedCall {
    this.#calls.push(call)
    if (this.#calls.length > callsKeptMax * 2) this.#calls = this.#calls.slice(-callsKeptMax)
    if (call.kind === 'token') this.#counters.tokens += 1
    else if (call.access === 'read') this.#counters.reads += 1
    else this.#counters.writes += 1
    return call
  }

  /** Oldest first; with a `kind`, only calls of this kind. */
  calls(kind?: CallKind): readonly LoggedCall[] {
    return kind === undefined ? this.#calls : this.#calls.filter((call) => call.kind === kind)
  }

  /** The object changes with later calls. */
  get counters(): CallCounters {
    return this.#counters
  }

  reset(): void {
    this.#calls = []
    Object.assign(this.#counters, { reads: 0, writes: 0, tokens: 0 })
  }
}

/** The kinds of a batch's requests, and the number of rows that it appends. */
export function summarize(body: unknown): Pick<LoggedCall, 'rows' | 'requests'> {
  const requests: string[] = []
  let rows = 0
  for (const request of asList(asObject(body)['requests'])) {
    const [kind, inner] = Object.entries(asObject(request))[0] ?? []
    if (kind === undefined) continue
    requests.push(kind)
    if (kind === 'appendCells') rows += asList(asObject(inner)['rows']).length
  }
  return { rows, requests }
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
