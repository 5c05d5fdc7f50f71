import type { Clock, Random } from '../../platform/clock.ts'
import type { FrozenBatch, TabSignups } from '../../signup/batch.ts'
import { columns } from '../../signup/row.ts'
import { tabProblem } from '../../signup/tab.ts'
import type { Warning } from '../../signup/trouble.ts'
import type { Open, Refused, RefusedTab } from '../spreadsheet.ts'
import { ourHeader } from '../header.ts'
import { FirstRows, headerRanges } from './first-rows.ts'
import { Landings } from './landings.ts'
import { copyWarning } from './markers.ts'
import { type Place, placeOf, placeProblems } from './place.ts'
import type { TabPlan } from './requests.ts'
import {
  fillWarning,
  findSheet,
  readFirstRows,
  readSheets,
  type Sheet,
  sheetFields,
} from './sheets.ts'
import type { ApiFailure, SheetsApi } from './sheets-api.ts'

/** Ids are int32 and not negative. */
const sheetIdMax = 2 ** 31 - 1

export interface Plan {
  readonly kind: 'plan'
  readonly tabs: readonly TabPlan[]
  /** Of the rows that say where cells go, to come with the answer. None for a sheet that is new. */
  readonly ranges: readonly string[]
  /** Made from a list of sheets that was read for it: what Google refuses then is no stale knowledge. */
  readonly isFresh: boolean
}

/**
 * Which sheets the spreadsheet has and what their columns are, as far as we know: people rename, add,
 * delete and rearrange them. It is asked for once and then kept current by the answers to our own
 * calls; `forget` makes it ask again.
 */
export class Layout {
  readonly #api: SheetsApi
  readonly #random: Random
  readonly #firstRows: FirstRows
  readonly #landings = new Landings()
  /** Sheets that were written to. */
  readonly #written = new Set<number>()
  /** Sheets whose title Google does not read in a range: nothing of theirs is asked for. */
  readonly #unreadable = new Set<number>()
  #sheets: readonly Sheet[] | undefined
  #copyWarning: Warning | undefined
  #warnings: readonly Warning[] = []

  constructor(api: SheetsApi, clock: Clock, random: Random) {
    this.#api = api
    this.#random = random
    this.#firstRows = new FirstRows(api, clock)
  }

  get warnings(): readonly Warning[] {
    return this.#warnings
  }

  /** Something of it was wrong, or may have changed without our seeing it. */
  forget(): void {
    this.#sheets = undefined
    this.#firstRows.forget()
  }

  /** Google did not understand the ranges of a plan: a title has changed, or is none that it reads. */
  rangesRefused({ tabs, isFresh }: Plan): void {
    if (isFresh) for (const { sheetId } of tabs) this.#unreadable.add(sheetId)
    this.forget()
  }

  /** Asks for the sheets, one call; nothing when they are known. */
  async load(signal: AbortSignal): Promise<{ readonly kind: 'ok' } | ApiFailure> {
    if (this.#sheets) return { kind: 'ok' }
    const fields = `sheets(${sheetFields}),developerMetadata(metadataKey,metadataValue)`
    const path = `?fields=${encodeURIComponent(fields)}`
    const result = await this.#api.call({ method: 'GET', path }, signal)
    if (result.kind !== 'ok') return result
    this.#sheets = readSheets(result.body)
    this.#copyWarning = copyWarning(result.body, this.#api.spreadsheetId)
    this.#warn()
    if (this.#sheets) return { kind: 'ok' }
    return { kind: 'retryable', message: 'The Sheets API answered without the list of sheets' }
  }

  /** Whether the only sheet is empty and has another name than this; after `load`. At most one call. */
  async findOnlyTab(name: string, signal: AbortSignal): Promise<Open | ApiFailure> {
    const [only, ...others] = this.#sheets ?? []
    const isOther = only?.isGrid === true && findSheet([only], name) === undefined
    // A title may have characters in it that no cell of ours gets.
    if (!only || !isOther || others.length > 0 || tabProblem(only.title)) return { kind: 'open' }
    const looked = await this.#firstRows.look([only], signal)
    if (looked.kind !== 'ok') {
      // Its title may have changed since the list was read, or be one that Google does not read.
      this.forget()
      return looked.error?.status === 400 ? { kind: 'open' } : looked
    }
    this.#merge(looked.sheets)
    if (this.#firstRows.get(only.sheetId)) return { kind: 'open' }
    this.#firstRows.foundEmpty(only.sheetId)
    return { kind: 'open', onlyTab: only.title }
  }

  /** Finds out where each tab's rows go and what has to be prepared: mostly without a call. */
  async plan(tabs: readonly TabSignups[], signal: AbortSignal): Promise<Plan | ApiFailure> {
    const isFresh = this.#sheets === undefined
    const loaded = await this.load(signal)
    if (loaded.kind !== 'ok') return loaded
    const find = () =>
      tabs.map((rows) => ({ rows, sheet: findSheet(this.#sheets ?? [], rows.tab) }))
    const noGrid = find().find(({ sheet }) => sheet?.isGrid === false)
    if (noGrid) return { ...noGridRefusal, tab: this.tabFor(noGrid.rows.tab) }

    const existing = find().flatMap(({ sheet }) => (sheet ? [sheet] : []))
    const looked = await this.#firstRows.look(existing, signal)
    if (looked.kind !== 'ok' && looked.error?.status !== 400) return looked
    if (looked.kind !== 'ok' && !isFresh) {
      // A sheet was renamed or deleted since the list was read.
      this.forget()
      return { kind: 'retryable', message: looked.error?.message ?? '', afterMs: 0 }
    }
    // A title that Google does not read: a missing header does less harm than a batch that waits.
    if (looked.kind !== 'ok') {
      for (const { sheetId } of existing) {
        this.#firstRows.set(sheetId, [])
        this.#unreadable.add(sheetId)
      }
    }
    if (looked.kind === 'ok') this.#merge(looked.sheets)
    this.#verify()

    const taken = new Set(this.#sheets?.map(({ sheetId }) => sheetId))
    // Tabs without rows were looked at too: the same calls, so that nobody can tell by the time.
    const written = find().filter(({ rows }) => rows.signups.length > 0)
    return {
      kind: 'plan',
      isFresh,
      tabs: written.map(({ rows, sheet }) =>
        sheet
          ? this.#planFor(rows, sheet)
          : {
              ...{ rows, sheetId: this.#newSheetId(taken), place: { header: ourHeader } },
              prepare: { kind: 'new sheet' },
            },
      ),
      ranges: written.flatMap(({ sheet }) =>
        sheet && !this.#unreadable.has(sheet.sheetId) ? headerRanges(sheet) : [],
      ),
    }
  }

  /** The outcome of a call is unknown: where its rows landed shows later, if they did. */
  sent(batch: FrozenBatch, { tabs }: Plan): void {
    this.#landings.note(batch, tabs)
  }

  /** The batch was applied by a try whose outcome was unknown: what is known of its sheets is older. */
  landed(batch: FrozenBatch): void {
    if (this.#landings.landed(batch)) this.forget()
  }

  /** The batch was given up: no rows of it have landed. */
  abandoned(batch: FrozenBatch): void {
    this.#landings.drop(batch)
  }

  /** The tab of a refusal, and where a person finds it. */
  tabFor(name: string): RefusedTab {
    const sheet = findSheet(this.#sheets ?? [], name)
    return { name, place: sheet ? wordsFor(sheet) : 'a tab that is not there yet' }
  }

  /** Takes over what the answer to an applied batch tells of the sheets. */
  learn(reply: Record<string, unknown>, batch: FrozenBatch, { tabs, ranges }: Plan): void {
    const answered = readSheets(reply['updatedSpreadsheet'])
    if (!answered) return this.forget()
    const index = this.#sheets?.length ?? 0
    const added = tabs.flatMap((plan) =>
      plan.prepare.kind === 'new sheet' ? [asSheet(plan, index)] : [],
    )
    // With ranges in the request the answer has their sheets only.
    if (ranges.length === 0) this.#sheets = answered
    else this.#merge([...added, ...answered])
    for (const { sheetId } of tabs) this.#written.add(sheetId)
    for (const { sheetId } of added) this.#firstRows.set(sheetId, columns)
    const rows = readFirstRows(reply['updatedSpreadsheet'])
    for (const { sheetId } of ranges.length > 0 ? answered : []) {
      this.#firstRows.set(sheetId, rows.get(sheetId) ?? [])
    }
    this.#firstRows.written()

    // A table that is not where it was is somewhere else: it took the rows.
    const tables = new Set(answered.flatMap((sheet) => sheet.tables.map(({ tableId }) => tableId)))
    const isKept = ({ place: { table } }: TabPlan) => !table || tables.has(table.tableId)
    this.#landings.drop(batch)
    this.#landings.note(batch, tabs.filter(isKept))
    this.#landings.landed(batch)
    this.#verify()
    this.#warn()
    if (!tabs.every(isKept)) this.forget()
  }

  /** Rows that landed by a layout that a person had just changed: for people, told once. */
  takeNotices(): readonly string[] {
    return this.#landings.takeNotices()
  }

  #merge(sheets: readonly Sheet[]): void {
    const byId = new Map(
      [...(this.#sheets ?? []), ...sheets].map((sheet) => [sheet.sheetId, sheet]),
    )
    this.#sheets = [...byId.values()]
  }

  #warn(): void {
    const sheets = this.#sheets ?? []
    const problems = sheets.flatMap((sheet) => {
      const isKnown = this.#written.has(sheet.sheetId) && this.#firstRows.get(sheet.sheetId)
      return isKnown
        ? placeProblems(this.#placeIn(sheet)).map(({ kind, message }) => ({
            kind,
            message: `Of the spreadsheet, ${wordsFor(sheet)} ${message}`,
          }))
        : []
    })
    const warnings = [this.#copyWarning, fillWarning(sheets), ...problems]
    this.#warnings = warnings.filter((warning) => warning !== undefined)
  }

  #verify(): void {
    const sheets = this.#sheets ?? []
    this.#landings.verify((sheetId) => {
      const sheet = sheets.find((one) => one.sheetId === sheetId)
      return (
        sheet && {
          words: wordsFor(sheet),
          isOf: (tab) => findSheet(sheets, tab) === sheet,
          place: this.#firstRows.get(sheetId) && this.#placeIn(sheet),
        }
      )
    })
  }

  #placeIn({ sheetId, tables }: Sheet): Place {
    return placeOf(tables, this.#firstRows.get(sheetId) ?? columns)
  }

  #planFor(rows: TabSignups, sheet: Sheet): TabPlan {
    const { sheetId, columnCount } = sheet
    const place = this.#placeIn(sheet)
    const needsColumns = place.header.kind !== 'named' && !place.table
    const missingColumns = needsColumns ? Math.max(0, columns.length - columnCount) : 0
    const isEmpty = !this.#firstRows.get(sheetId)
    if (missingColumns === 0 && !isEmpty) {
      return { rows, sheetId, place, prepare: { kind: 'nothing' } }
    }
    return { rows, sheetId, place, prepare: { kind: 'existing sheet', missingColumns, isEmpty } }
  }

  #newSheetId(taken: Set<number>): number {
    let sheetId
    do sheetId = Math.floor(this.#random() * sheetIdMax)
    while (taken.has(sheetId))
    taken.add(sheetId)
    return sheetId
  }
}

/** A sheet that a batch has made. */
function asSheet({ sheetId, rows }: TabPlan, index: number): Sheet {
  const grid = { rowCount: rows.signups.length + 1, columnCount: columns.length }
  return { sheetId, title: rows.tab, index, isGrid: true, ...grid, tables: [] }
}

/** Its title may come from a visitor, and stays out of logs; the gid is in the address bar. */
function wordsFor({ sheetId, index }: Sheet): string {
  return `the tab at place ${index + 1} (gid=${sheetId})`
}

const noGridRefusal: Refused = {
  kind: 'refused',
  reason: 'noCells',
  message: 'The tab has no cells: it is a chart or another sheet of its own kind',
  hint: 'Rename that tab of the spreadsheet; its signups then get a tab with cells.',
}
