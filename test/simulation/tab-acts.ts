import type { SpreadsheetHandle } from '../../emulators/google-sheets/spreadsheet-handle.ts'
import { columns } from '../../src/signup/row.ts'
import type { TabAct } from './acts.ts'
import type { Dice } from './dice.ts'

/** A person who is about to change a tab. */
export interface Hand {
  readonly sheet: SpreadsheetHandle
  readonly dice: Dice
  /** The tab that was chosen, and the other ones. */
  readonly title: string
  readonly others: readonly string[]
  /** A number that no act had before. */
  readonly number: number
}

/** What people do to tabs. Each act returns false when it is not possible now. */
export const tabActs: Readonly<Record<TabAct, (hand: Hand) => boolean>> = {
  'rename tab'({ sheet, title, number }) {
    sheet.renameTab(title, `${title} ${number}`)
    return true
  },
  'swap tabs'({ sheet, title, others, dice }) {
    const other = others[dice.between(0, others.length - 1)]
    if (other === undefined) return false
    sheet.renameTab(title, 'for a moment')
    sheet.renameTab(other, title)
    sheet.renameTab('for a moment', other)
    return true
  },
  'delete tab'({ sheet, title, others }) {
    if (others.length > 0) sheet.deleteTab(title)
    return others.length > 0
  },
  'add tab'({ sheet, title, others, dice }) {
    const name = dice.pick(['News', 'events', 'Jobs'])
    const isThere = [title, ...others].some((one) => one.toLowerCase() === name.toLowerCase())
    if (!isThere) sheet.addTab(name, dice.chance(0.5) ? [['by hand']] : [])
    return !isThere
  },
  'protect tab'({ sheet, title }) {
    sheet.protectTab(title)
    return true
  },
  'free tab'({ sheet, title }) {
    sheet.unprotectTab(title)
    return true
  },
  'sort tab'(hand) {
    const { sheet, title, dice } = hand
    if (!hasRows(hand)) return false
    sheet.sortRows(title, anyColumn(hand), dice.pick(['ascending', 'descending']))
    return true
  },
  'empty tab'({ sheet, title, dice }) {
    const rowCount = sheet.rowCount(title)
    sheet.clearRows(title, dice.between(1, 2))
    return rowCount > 0
  },
  'insert rows'(hand) {
    const { sheet, title, dice } = hand
    if (hasRows(hand)) sheet.insertRows(title, anyRow(hand), dice.between(1, 3))
    return hasRows(hand)
  },
  'delete rows'(hand) {
    const { sheet, title, dice } = hand
    if (!hasRows(hand)) return false
    const row = anyRow(hand)
    sheet.deleteRows(title, row, dice.between(1, sheet.rowCount(title) - row + 1))
    return true
  },
  'edit address'(hand) {
    const { sheet, title } = hand
    if (hasRows(hand)) sheet.editCell(title, `A${anyRow(hand)}`, 'somebody')
    return hasRows(hand)
  },
  'narrow tab'({ sheet, title, dice }) {
    sheet.resizeTab(title, { columnCount: dice.between(3, 9) })
    return true
  },
  'insert column'({ sheet, title, dice }) {
    const { columnCount } = sheet.tab(title).gridProperties ?? {}
    sheet.insertColumns(title, dice.between(0, Math.min(columns.length, columnCount ?? 0)))
    return true
  },
  'move column'(hand) {
    const { sheet, title } = hand
    sheet.moveColumn(title, anyColumn(hand), anyColumn(hand))
    return headerOf(hand).length > 1
  },
  'rename column'(hand) {
    const { sheet, title, dice } = hand
    if (headerOf(hand).length === 0) return false
    const cell = `${'ABCDEFGHIJKLMNOP'[anyColumn(hand)] ?? 'A'}1`
    sheet.editCell(title, cell, dice.pick(['Notes', 'Email', 'Name']))
    return true
  },
}

function headerOf({ sheet, title }: Hand): readonly string[] {
  return sheet.rows(title)[0] ?? []
}

function hasRows({ sheet, title }: Hand): boolean {
  return sheet.rowCount(title) > 1
}

/** A row (1-based) below the header. */
function anyRow({ sheet, title, dice }: Hand): number {
  return dice.between(2, sheet.rowCount(title))
}

/** A column (from 0) with a name. */
function anyColumn(hand: Hand): number {
  return hand.dice.between(0, Math.max(0, headerOf(hand).length - 1))
}
