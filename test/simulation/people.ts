import type { sheets_v4 } from '@googleapis/sheets'
import { ApiError } from '../../emulators/google-sheets/api-error.ts'
import type { SpreadsheetHandle } from '../../emulators/google-sheets/spreadsheet-handle.ts'
import type { Version } from '../../emulators/google-sheets/versions.ts'
import type { PersonAct } from './acts.ts'
import type { Dice } from './dice.ts'
import type { Sharing } from './sharing.ts'
import { tabActs } from './tab-acts.ts'
import type { Truth } from './truth.ts'
import type { Fenced } from './version-history.ts'

/** Google's limit on the cells of a spreadsheet. */
const cellsMax = 10_000_000
/** The tab with which a person fills the spreadsheet. */
const filler = 'Archive'

interface PeopleOptions {
  readonly sheet: SpreadsheetHandle
  readonly sharing: Sharing
  readonly truth: Truth
  readonly dice: Dice
}

/** A version in Google's version history. */
interface Saved {
  readonly version: Version
  readonly fenced: Fenced
}

/** The people who work in the spreadsheet. */
export class People {
  readonly #options: PeopleOptions
  readonly #versions: Saved[] = []
  /** Whether Google restores developer metadata with a version, which is not documented. */
  readonly #restoresMetadata: boolean
  #acts = 0

  constructor(options: PeopleOptions) {
    this.#options = options
    this.#restoresMetadata = options.dice.chance(0.5)
    this.#save()
  }

  /** Does what a person would do. Returns false when that is not possible now. */
  act(act: PersonAct): boolean {
    const { sheet, truth } = this.#options
    // The rows that came before are checked now, because afterwards they can be anywhere.
    this.check()
    this.#save()
    this.#acts += 1
    try {
      return this.#carryOut(act)
    } catch (error) {
      // Google refuses it to people, too, for example a new tab in a full spreadsheet.
      if (error instanceof ApiError) return false
      throw error
    } finally {
      truth.replaceSheets(sheet.titles().map((title) => this.#sheetNow(title)))
    }
  }

  /** Shares the spreadsheet again, takes away every protection and makes room. */
  heal(): void {
    const { sheet, sharing } = this.#options
    sharing.settle('editor')
    for (const title of sheet.titles()) sheet.unprotectTab(title)
    this.#makeRoom()
  }

  /** Compares the rows of the tabs with those that were written and with what people did to them. */
  check(): void {
    const { sheet, truth } = this.#options
    for (const title of sheet.titles()) truth.checkSheet(this.#sheetNow(title))
  }

  #idOf(title: string): number {
    return this.#options.sheet.tab(title).sheetId ?? 0
  }

  #sheetNow(title: string) {
    return { sheetId: this.#idOf(title), rows: this.#options.sheet.rows(title) }
  }

  #save(): void {
    const { sheet, truth } = this.#options
    this.#versions.push({ version: sheet.version(), fenced: truth.history.save() })
  }

  #carryOut(act: PersonAct): boolean {
    const { sheet, sharing, dice } = this.#options
    switch (act) {
      case 'unshare':
        sharing.change(dice.pick(['none', 'viewer']))
        return true
      case 'share':
        sharing.change('editor')
        return true
      case 'restore version':
        return this.#restore()
      case 'fill spreadsheet':
        return this.#fill()
      case 'make room':
        return this.#makeRoom()
      default:
    }
    const titles = sheet.titles().filter((title) => title !== filler)
    const title = titles[dice.between(0, titles.length - 1)]
    if (title === undefined) return false
    const others = titles.filter((other) => other !== title)
    return tabActs[act]({ sheet, dice, title, others, number: this.#acts })
  }

  /** Restores an earlier version, or takes that back. */
  #restore(): boolean {
    const { sheet, truth, dice } = this.#options
    const saved = this.#versions[dice.between(0, this.#versions.length - 1)]
    if (!saved) return false
    const before = sheet.metadata()
    sheet.restore(saved.version, this.#restoresMetadata)
    if (!this.#restoresMetadata) return true
    const [left, after] = [idsOf(before), idsOf(sheet.metadata())]
    const lost = idsOf(before.filter((one) => !isOfAppliedBatch(one))).difference(after)
    truth.history.restored(saved.fenced, lost, after.difference(left))
    return true
  }

  /** Leaves no tab an empty row, and takes nearly all the cells that are left. */
  #fill(): boolean {
    const { sheet, dice } = this.#options
    const titles = sheet.titles()
    if (titles.includes(filler)) return false
    let cells = 0
    for (const title of titles) {
      sheet.resizeTab(title, { rowCount: Math.max(2, sheet.rowCount(title)) })
      const { rowCount = 0, columnCount = 0 } = sheet.tab(title).gridProperties ?? {}
      cells += (rowCount ?? 0) * (columnCount ?? 0)
    }
    sheet.addTab(filler)
    sheet.resizeTab(filler, { rowCount: cellsMax - cells - dice.between(0, 60), columnCount: 1 })
    return true
  }

  #makeRoom(): boolean {
    const { sheet } = this.#options
    const titles = sheet.titles()
    const isFull = titles.includes(filler)
    if (isFull && titles.length === 1) sheet.addTab('Another')
    if (isFull) sheet.deleteTab(filler)
    return isFull
  }
}

function idsOf(metadata: readonly sheets_v4.Schema$DeveloperMetadata[]): Set<number> {
  return new Set(metadata.map(({ metadataId }) => metadataId ?? 0))
}

function isOfAppliedBatch({
  metadataKey,
  metadataValue,
}: sheets_v4.Schema$DeveloperMetadata): boolean {
  return metadataKey === 'rollcall' && !metadataValue?.endsWith(':x')
}
