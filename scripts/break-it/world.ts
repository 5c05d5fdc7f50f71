import type { LoggedCall } from '../../emulators/google-sheets/call-log.ts'
import type { SpreadsheetHandle } from '../../emulators/google-sheets/spreadsheet-handle.ts'
import { createGoogleWorld } from '../../harness/google-world.ts'
import { startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { madeUpDomain } from '../sandbox-month.ts'
import { attempts } from './attempts.ts'
import { Visitors } from './visitors.ts'

const rowsShown = 8
const callsShown = 8

/** A signup in the sheet. */
interface SheetRow {
  /** The title of its tab. */
  readonly title: string
  readonly line: number
  readonly address: string
  /** The time of day, in UTC. */
  readonly time: string
}

/** What the page shows, counted from the answers that visitors got, and from the sheet as it is. */
export interface State {
  /** How many people were answered 2xx, and in how many answers. */
  readonly answered: number
  readonly answers: number
  readonly unanswered: number
  /** For how long no attempt has run. */
  readonly quietMs: number
  /** Signups in all tabs, whatever the tabs are called. */
  readonly rows: number
  /** How many were answered 2xx, and have no row. */
  readonly missing: number
  /** How many rows there are beyond the first one of each person. */
  readonly double: number
  readonly pid: number
  readonly sheetUrl: string
  /** A command that deletes the first signup of the sheet. */
  readonly deletion: string
  readonly lastRows: readonly SheetRow[]
  /** Newest first: the calls with rows, and those that met a fault. */
  readonly calls: readonly LoggedCall[]
  /** By its button: how often an attempt was made, and whether it is under way. */
  readonly made: Readonly<Record<string, { readonly times: number; readonly isRunning: boolean }>>
}

/** Starts the real service with an emulated Google Sheet. `nowMs` tells a time in milliseconds that only grows. */
export async function startWorld(nowMs = () => performance.now()) {
  await using parts = new AsyncDisposableStack()
  const stop = new AbortController()
  const { emulator, env, spreadsheetId } = parts.use(await createGoogleWorld({ quota: 'google' }))
  const { path: dataDir } = parts.use(await tempFolder())
  const start = () => startService({ dataDir, env: { ...env, TRUST_PROXY: '1' } })
  let service = await start()
  parts.defer(async () => {
    await service.stop()
  })

  const visitors = new Visitors(() => service.url, stop.signal)
  const killAndStart = async () => {
    await service.kill()
    service = await start()
  }
  const made: Record<string, { times: number; isRunning: boolean }> = {}
  const running = new Set<Promise<void>>()
  let quietSinceMs = nowMs()
  const started = parts.move()

  return {
    state: (): State => {
      const signups = signupsOf(emulator.spreadsheet(spreadsheetId))
      const people = new Set(signups.map(({ address }) => address))
      const { title, line } = signups[0] ?? { title: 'Sheet1', line: 2 }
      const { answered, answers, unanswered } = visitors
      const told = emulator.log.calls().filter((call) => call.rows > 0 || call.fault !== undefined)
      const deeds = `${emulator.url}/emulator/spreadsheets/${spreadsheetId}`
      return {
        ...{ answered: answered.size, answers, unanswered, made },
        quietMs: running.size > 0 ? 0 : nowMs() - quietSinceMs,
        ...{ rows: signups.length, double: signups.length - people.size },
        missing: answered.difference(people).size,
        pid: service.pid,
        sheetUrl: `${emulator.url}/spreadsheets/${spreadsheetId}`,
        deletion: `curl -d '${JSON.stringify([title, line])}' ${deeds}/deleteRows`,
        lastRows: signups.slice(-rowsShown),
        calls: told.slice(-callsShown).toReversed(),
      }
    },
    /** Begins an attempt. Returns false when there is none of that name, or while it is under way. */
    press: (name: string): boolean => {
      const attempt = attempts.get(name)
      const { times = 0, isRunning = false } = made[name] ?? {}
      if (!attempt || isRunning) return false
      made[name] = { times: times + 1, isRunning: true }
      const run = attempt({ emulator, visitors, stop: stop.signal, killAndStart })
        .catch((error: unknown) => {
          process.stderr.write(`The attempt "${name}" failed: ${String(error)}\n`)
        })
        .finally(() => {
          made[name] = { times: times + 1, isRunning: false }
          quietSinceMs = nowMs()
          running.delete(run)
        })
      running.add(run)
      return true
    },
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await Promise.all(running)
      await started.disposeAsync()
    },
  }
}

/** The rows with the address of a visitor, wherever people have moved them. */
function signupsOf(spreadsheet: SpreadsheetHandle): SheetRow[] {
  return spreadsheet.titles().flatMap((title) =>
    spreadsheet.rows(title).flatMap((cells, index) => {
      const address = cells.find((cell) => cell.endsWith(madeUpDomain))
      const [time = ''] = /(?<=T)[\d:]{8}/.exec(cells.join(' ')) ?? []
      return address === undefined ? [] : [{ title, line: index + 1, address, time }]
    }),
  )
}
