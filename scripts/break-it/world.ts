import type { LoggedCall } from '../../emulators/google-sheets/call-log.ts'
import { createGoogleWorld } from '../../harness/google-world.ts'
import { startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import { attempts } from './attempts.ts'
import { Visitors } from './visitors.ts'

const rowsShown = 8
const callsShown = 8

/** What the page shows, counted from the answers that visitors got, and from the sheet as it is. */
export interface State {
  /** How many people were answered 2xx, and in how many answers. */
  readonly answered: number
  readonly answers: number
  readonly unanswered: number
  readonly rows: number
  /** How many were answered 2xx, and have no row. */
  readonly missing: number
  /** How many rows there are beyond the first one of each person. */
  readonly double: number
  readonly pid: number
  readonly sheetUrl: string
  /** A command that deletes the first signup of the sheet. */
  readonly deletion: string
  /** The header, and the last rows. */
  readonly lastRows: readonly (readonly string[])[]
  /** Newest first: the calls with rows, and those that met a fault. */
  readonly calls: readonly LoggedCall[]
  /** By its button: how often an attempt was made, and whether it is under way. */
  readonly made: Readonly<Record<string, { readonly times: number; readonly isRunning: boolean }>>
}

/** Starts the real service with an emulated Google Sheet. */
export async function startWorld() {
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
  const started = parts.move()

  return {
    state: (): State => {
      const [header, ...rows] = emulator.spreadsheet(spreadsheetId).rows('Sheet1')
      const people = new Set(rows.map(([address = '']) => address))
      const { answered, answers, unanswered } = visitors
      const told = emulator.log.calls().filter((call) => call.rows > 0 || call.fault !== undefined)
      const deeds = `${emulator.url}/emulator/spreadsheets/${spreadsheetId}`
      return {
        ...{ answered: answered.size, answers, unanswered, made },
        ...{ rows: rows.length, double: rows.length - people.size },
        missing: answered.difference(people).size,
        pid: service.pid,
        sheetUrl: `${emulator.url}/spreadsheets/${spreadsheetId}`,
        deletion: `curl -d '["Sheet1", 2]' ${deeds}/deleteRows`,
        lastRows: header ? [header, ...rows.slice(-rowsShown)] : [],
        calls: told.slice(-callsShown).toReversed(),
      }
    },
    /** Begins an attempt. Returns false when there is none of that name, or while it is under way. */
    press: (name: string): boolean => {
      const attempt = attempts.get(name)
      const { times = 0, isRunning = false } = made[name] ?? {}
      if (!attempt || isRunning) return false
      made[name] = { times: times + 1, isRunning: true }
      const run = attempt({ emulator, visitors, stop: stop.signal, killAndStart }).finally(() => {
        made[name] = { times: times + 1, isRunning: false }
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
