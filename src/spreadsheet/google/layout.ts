import type { Clock, Random } from '../../platform/clock.ts'
import type { FrozenBatch, TabSignups } from '../../signup/batch.ts'
import { headingsOf, type OwnColumn } from '../../signup/row.ts'
import type { Warning } from '../../signup/trouble.ts'
import type { Refused, NamedTab } from '../spreadsheet.ts'
import { headerProblem, ourHeaderWith } from '../header.ts'
import { FirstRows } from './first-rows.ts'
import { headerRanges } from './ranges.ts'
import { isSamePlace, type Place, placeOf } from './place.ts'
import { newSheetRows, type TabPlan } from './requests.ts'
import { listSheets } from './sheet-parts.ts'
import {
  fillWarnings,
  findSheet,
  readFirstRows,
  readSheets,
  type Sheet,
  wordsFor,
} from './sheets.ts'
import { isRangeRefused, ReadFailed, type SheetsApi } from './sheets-api.ts'

/** Sheet ids are int32 and not negative. */
const sheetIdMax = 2 ** 31 - 1

export interface Plan {
  readonly kind: 'plan'
  readonly tabs: readonly TabPlan[]
  /** The ranges of the header rows to request with the answer. A new sheet has none. */
  readonly ranges: readonly string[]
  /** Whether the list of sheets was read for this plan. Then a refusal is not due to an old list. */
  readonly isFresh: boolean
}

/**
 * The sheets of the spreadsheet and their columns, which people rename, add, delete and rearrange. Read
 * once and then updated from the answers to our own calls; `forget` makes it read again.
 */
export class Layout {
  readonly #api: SheetsApi
  readonly #random: Random
  readonly #own: readonly OwnColumn[]
  readonly #firstRows: FirstRows
  /** Where the rows of a batch may have gone whose outcome is unknown: by its first try. */
  #tried: { readonly batch: number; readonly tabs: readonly TabPlan[] } | undefined
  /** Where rows went that are still to be compared with what an answer shows of their tabs. */
  #landed: readonly TabPlan[] = []
  readonly #written = new Set<number>()
  /** The ids of sheets whose title Google cannot read in a range. Their cells are never requested. */
  readonly #unreadable = new Set<number>()
  /** The ids of sheets whose header row takes no headings of ours. */
  readonly #kept = new Set<number>()
  /** Empty until they are read. A spreadsheet has at least one. */
  #sheets: readonly Sheet[] = []
  #warnings: readonly Warning[] = []
  #misplaced: readonly Warning[] = []

  constructor(api: SheetsApi, clock: Clock, random: Random, own: readonly OwnColumn[]) {
    this.#api = api
    this.#own = own
    this.#random = random
    this.#firstRows = new FirstRows(api, clock)
  }

  get warnings(): readonly Warning[] {
    return [...this.#warnings, ...this.#misplaced]
  }

  /** Call when the layout was wrong or may have changed. */
  forget(): void {
    this.#sheets = []
    this.#firstRows.forget()
  }

  /** Call when Google refused the ranges of a plan: a title has changed, or Google cannot read it. */
  rangesRefused({ tabs, isFresh }: Plan): void {
    if (isFresh) for (const { sheetId } of tabs) this.#unreadable.add(sheetId)
    this.forget()
  }

  /** Adds no headings to a tab any more, if the plan wanted to. Returns whether it did. */
  keepHeader({ tabs }: Plan, tab: string): boolean {
    const plan = tabs.find(({ rows, place }) => rows.tab === tab && place.header.added)
    if (plan) this.#kept.add(plan.sheetId)
    return plan !== undefined
  }

  /** Reads the sheets with one call, unless they are known. @throws ReadFailed */
  async load(signal: AbortSignal): Promise<readonly Sheet[]> {
    if (this.#sheets.length > 0) return this.#sheets
    this.#sheets = await listSheets(this.#api, signal)
    this.#warn()
    if (this.#sheets.length > 0) return this.#sheets
    const message = 'The Sheets API answered without the list of sheets'
    throw new ReadFailed({ kind: 'retryable', message })
  }

  /** Finds out where each tab's rows go, mostly without a call. @throws ReadFailed */
  async plan(batch: FrozenBatch, signal: AbortSignal): Promise<Plan | Refused> {
    const { tabs } = batch
    // Another writer has ended that batch.
    if (this.#tried && this.#tried.batch !== batch.number) this.landed()
    const isFresh = this.#sheets.length === 0
    await this.load(signal)
    const find = () => tabs.map((rows) => ({ rows, sheet: findSheet(this.#sheets, rows.tab) }))
    const noGrid = find().find(({ sheet }) => sheet?.isGrid === false)
    if (noGrid) return { ...noGridRefusal, tab: this.tabFor(noGrid.rows.tab) }

    const existing = find().flatMap(({ sheet }) => (sheet ? [sheet] : []))
    try {
      this.#merge(await this.#firstRows.look(existing, signal))
    } catch (error) {
      if (!isRangeRefused(error)) throw error
      // A sheet was renamed or deleted since the list was read.
      if (!isFresh) throw this.#outdated(error.message)
      // Google cannot read a title. Go on without it: a missing header is better than a stuck batch.
      for (const { sheetId } of existing) {
        this.#firstRows.set(sheetId, [])
        this.#unreadable.add(sheetId)
      }
    }
    if (this.#hasTwins && !isFresh) throw this.#outdated('Somebody has renamed tabs')

    const taken = new Set(this.#sheets.map(({ sheetId }) => sheetId))
    // Tabs without rows cause the same calls, so that the time does not show that they have none.
    const written = find().filter(({ rows }) => rows.signups.length > 0)
    return {
      kind: 'plan',
      isFresh,
      tabs: written.map(({ rows, sheet }) =>
        sheet ? this.#planFor(rows, sheet) : this.#planNew(rows, taken),
      ),
      ranges: written.flatMap(({ sheet }) =>
        sheet && !this.#unreadable.has(sheet.sheetId) ? headerRanges(sheet) : [],
      ),
    }
  }

  /** Call when a try has an unknown outcome. */
  tried({ number }: FrozenBatch, { tabs }: Plan): void {
    if (this.#tried?.batch !== number) this.#tried = { batch: number, tabs }
  }

  /** Call when such a try did apply the batch. The known layout is then too old. */
  landed(): void {
    this.#landed = this.#tried?.tabs ?? []
    this.#tried = undefined
    this.forget()
  }

  /** Call when no try did, and none can any more. */
  gaveUp(): void {
    this.#tried = undefined
  }

  /** The tab of a refusal, with a description of its place. */
  tabFor(name: string): NamedTab {
    const sheet = findSheet(this.#sheets, name)
    return { name, place: sheet ? wordsFor(sheet) : 'a tab that is not there yet' }
  }

  /** Updates the layout from the answer to an applied batch. */
  learn(reply: Record<string, unknown>, { tabs, ranges }: Plan): void {
    const answered = readSheets(reply['updatedSpreadsheet'])
    if (answered.length === 0) return this.forget()
    const index = this.#sheets.length
    const added = tabs
      .filter(({ isNew }) => isNew)
      .map((plan) => asSheet(plan, index, headingsOf(this.#own).length))
    // When the request has ranges, the answer has only their sheets.
    if (ranges.length === 0) this.#sheets = answered
    else this.#merge([...added, ...answered])
    for (const { sheetId } of tabs) this.#written.add(sheetId)
    for (const { sheetId } of added) this.#firstRows.set(sheetId, headingsOf(this.#own))
    const rows = readFirstRows(reply['updatedSpreadsheet'])
    for (const { sheetId } of ranges.length > 0 ? answered : []) {
      this.#firstRows.set(sheetId, rows.get(sheetId) ?? [])
    }
    this.#firstRows.written()

    this.#tried = undefined
    this.#landed = [...this.#landed, ...tabs.filter(({ isNew }) => !isNew)]
    // Then the rows are compared with a new list.
    if (this.#hasTwins) return this.forget()
    this.#misplaced = this.#landed.flatMap((plan) => this.#misplacedBy(plan))
    this.#landed = []
    this.#warn()
  }

  /**
   * Whether two known sheets have one title. A range with that title then gave us another sheet than
   * before, as when a person swaps the names of two tabs, and the list of sheets is too old.
   */
  get #hasTwins(): boolean {
    const titles = new Set(this.#sheets.map(({ title }) => title.toLowerCase()))
    return titles.size < this.#sheets.length
  }

  #outdated(message: string): ReadFailed {
    this.forget()
    return new ReadFailed({ kind: 'retryable', message, afterMs: 0 })
  }

  #merge(sheets: readonly Sheet[]): void {
    const byId = new Map([...this.#sheets, ...sheets].map((sheet) => [sheet.sheetId, sheet]))
    this.#sheets = [...byId.values()]
  }

  #warn(): void {
    const sheets = this.#sheets
    const problems = sheets.flatMap((sheet) => {
      if (!this.#written.has(sheet.sheetId)) return []
      const problem = headerProblem(this.#placeIn(sheet).header, this.#own)
      if (problem === undefined) return []
      return {
        kind: 'columns' as const,
        message: `In the spreadsheet, ${wordsFor(sheet)} ${problem}`,
      }
    })
    this.#warnings = [...fillWarnings(sheets), ...problems]
  }

  /** A warning when somebody had changed the tab just before rows were written by this plan. */
  #misplacedBy({ sheetId, place, rows }: TabPlan): readonly Warning[] {
    const sheet = this.#sheets.find((one) => one.sheetId === sheetId)
    if (!sheet) return []
    const isRead = this.#firstRows.get(sheetId) !== undefined
    const isAsBefore = !isRead || isSamePlace(place, this.#placeIn(sheet))
    if (isAsBefore && findSheet(this.#sheets, rows.tab) === sheet) return []
    const message =
      `Somebody renamed ${wordsFor(sheet)} or changed its columns just when rows were written: ` +
      'look at its last rows.'
    return [{ kind: 'changed', message }]
  }

  #placeIn({ sheetId, tables }: Sheet): Place {
    const first = this.#firstRows.get(sheetId) ?? headingsOf(this.#own)
    return placeOf(tables, first, this.#own, !this.#kept.has(sheetId))
  }

  #planFor(rows: TabSignups, sheet: Sheet): TabPlan {
    const { sheetId, columnCount } = sheet
    const place = this.#placeIn(sheet)
    const width = place.table ? 0 : Math.max(...place.header.at) + 1
    const missingColumns = Math.max(0, width - columnCount)
    const isEmpty = !this.#firstRows.get(sheetId)
    return { rows, sheetId, place, isNew: false, missingColumns, isEmpty }
  }

  /** @param taken the ids of sheets, to which that of the new one is added */
  #planNew(rows: TabSignups, taken: Set<number>): TabPlan {
    let sheetId
    do sheetId = Math.floor(this.#random() * sheetIdMax)
    while (taken.has(sheetId))
    taken.add(sheetId)
    const place = { header: ourHeaderWith(this.#own) }
    return { rows, sheetId, place, isNew: true, missingColumns: 0, isEmpty: true }
  }
}

/** The sheet that a batch has made. */
function asSheet({ sheetId, rows }: TabPlan, index: number, columnCount: number): Sheet {
  const rowCount = Math.max(newSheetRows, rows.signups.length + 1)
  const grid = { rowCount, columnCount }
  return { sheetId, title: rows.tab, index, isGrid: true, ...grid, tables: [] }
}

const noGridRefusal: Refused = {
  kind: 'refused',
  reason: 'noCells',
  message: 'The tab has no cells: it is a chart or another sheet of a special kind',
  hint: 'Rename that tab. Rollcall then makes a new tab with cells for its signups.',
}
