import { displayText, unpackCell, type StoredCell } from './cell.ts'

/** The order that sorting gives: numbers, then text without regard to case, then booleans; blanks last. */
export function compareCells(left: StoredCell, right: StoredCell, descending: boolean): number {
  const [leftRank, rightRank] = [rank(left), rank(right)]
  // Blank cells stay at the end in both directions.
  if (leftRank === blank || rightRank === blank) return leftRank - rightRank
  const order = leftRank - rightRank || compareSameKind(left, right)
  return descending ? -order : order
}

const blank = 3

function rank(cell: StoredCell): number {
  const value = unpackCell(cell).userEnteredValue
  if (!value) return blank
  if (typeof value.numberValue === 'number') return 0
  return typeof value.boolValue === 'boolean' ? 2 : 1
}

function compareSameKind(left: StoredCell, right: StoredCell): number {
  const leftNumber = unpackCell(left).userEnteredValue?.numberValue
  const rightNumber = unpackCell(right).userEnteredValue?.numberValue
  if (typeof leftNumber === 'number' && typeof rightNumber === 'number') {
    return leftNumber - rightNumber
  }
  const [leftText, rightText] = [displayText(left).toLowerCase(), displayText(right).toLowerCase()]
  if (leftText === rightText) return 0
  return leftText < rightText ? -1 : 1
}
