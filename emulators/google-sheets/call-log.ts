import type { CallKind } from './route.ts'

export interface LoggedRequest {
  readonly kind: string
  /** The metadata id or sheet id that the request carries, when it does. */
  readonly id?: number
}

/** One call to the emulator. Bodies are kept only when the emulator was told to. */
export interface LoggedCall {
  readonly number: number
  readonly time: string
  readonly method: string
  readonly path: string
  readonly kind: CallKind
  readonly access?: 'read' | 'write'
  readonly spreadsheetId?: string
  readonly account?: string
  /** What the client saw: a status, or `dropped`. */
  status: number | 'dropped' | 'pending'
  /** What the emulator did, whatever the client saw. `late`: still to come. */
  applied: 'yes' | 'no' | 'late' | 'twice'
  /** Rows of all `appendCells` in the body. */
  readonly rows: number
  readonly requests: readonly LoggedRequest[]
  readonly fault?: string
  readonly body?: unknown
}

export interface CallCounters {
  readonly reads: number
  readonly writes: number
  readonly tokens: number
}

const callsKeptMax = 10_000

/** The last calls, and counts of all of them since the start or the last reset. */
export class CallLog {
  #calls: LoggedCall[] = []
  readonly #counters = { reads: 0, writes: 0, tokens: 0 }
  #number = 0

  add(call: Omit<LoggedCall, 'number'>): LoggedCall {
    this.#number += 1
    const logged = { ...call, number: this.#number }
    this.#calls.push(logged)
    if (this.#calls.length > callsKeptMax * 2) this.#calls = this.#calls.slice(-callsKeptMax)
    if (call.kind === 'token') this.#counters.tokens += 1
    else if (call.access === 'read') this.#counters.reads += 1
    else this.#counters.writes += 1
    return logged
  }

  /** Oldest first; only those of one kind when it is given. */
  calls(kind?: CallKind): readonly LoggedCall[] {
    return kind === undefined ? this.#calls : this.#calls.filter((call) => call.kind === kind)
  }

  /** They go on counting. */
  get counters(): CallCounters {
    return this.#counters
  }

  reset(): void {
    this.#calls = []
    Object.assign(this.#counters, { reads: 0, writes: 0, tokens: 0 })
  }
}

/** What is worth logging of a batch: kinds, ids and the number of appended rows. */
export function summarize(body: unknown): Pick<LoggedCall, 'rows' | 'requests'> {
  const requests: LoggedRequest[] = []
  let rows = 0
  for (const request of asList(asObject(body)['requests'])) {
    const [kind, inner] = Object.entries(asObject(request))[0] ?? []
    if (kind === undefined) continue
    const fields = asObject(inner)
    rows += kind === 'appendCells' ? asList(fields['rows']).length : 0
    const id =
      asObject(fields['developerMetadata'])['metadataId'] ??
      asObject(asObject(fields['dataFilter'])['developerMetadataLookup'])['metadataId'] ??
      asObject(fields['properties'])['sheetId'] ??
      fields['sheetId']
    requests.push({ kind, ...(typeof id === 'number' ? { id } : {}) })
  }
  return { rows, requests }
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
