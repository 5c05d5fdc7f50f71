import { tabKey } from '../../signup/signup.ts'

/** What we know of one sheet of the spreadsheet. */
export interface Sheet {
  readonly sheetId: number
  readonly title: string
  /** Whether it has cells; a chart can be a sheet, too. */
  readonly isGrid: boolean
  readonly rowCount: number
  readonly columnCount: number
}

/** Google's limit on the cells of a spreadsheet: rows times columns of every grid, empty cells too. */
const cellsMax = 10_000_000
const cellsWarnFrom = 8_000_000

/** Tells in time that a spreadsheet will be full; undefined while there is room. */
export function fillWarning(sheets: readonly Sheet[]): string | undefined {
  const cells = sheets.reduce((sum, { rowCount, columnCount }) => sum + rowCount * columnCount, 0)
  if (cells < cellsWarnFrom) return undefined
  const percent = Math.floor((cells / cellsMax) * 100)
  return (
    `The spreadsheet is ${percent} % full: ${cells} of at most ${cellsMax} cells, empty ones count too. ` +
    'Delete empty rows and columns and old tabs, or go over to a new spreadsheet.'
  )
}

/** The mask that asks for just what `readSheets` reads. */
export const sheetFields =
  'sheets.properties(sheetId,title,sheetType,gridProperties(rowCount,columnCount))'

/** Reads the sheets of a `Spreadsheet` resource; undefined when it carries none. */
export function readSheets(spreadsheet: unknown): readonly Sheet[] | undefined {
  if (!isRecord(spreadsheet) || !Array.isArray(spreadsheet['sheets'])) return undefined
  return spreadsheet['sheets'].flatMap((sheet: unknown): Sheet[] => {
    const properties = isRecord(sheet) ? sheet['properties'] : undefined
    if (!isRecord(properties)) return []
    const grid = isRecord(properties['gridProperties']) ? properties['gridProperties'] : {}
    // Google's JSON may leave out a field that is 0.
    return [
      {
        sheetId: Number(properties['sheetId'] ?? 0),
        title: typeof properties['title'] === 'string' ? properties['title'] : '',
        isGrid: (properties['sheetType'] ?? 'GRID') === 'GRID',
        rowCount: Number(grid['rowCount'] ?? 0),
        columnCount: Number(grid['columnCount'] ?? 0),
      },
    ]
  })
}

/** The sheet for a tab: titles are matched without regard to case, an exact one first. */
export function findSheet(sheets: readonly Sheet[], tab: string): Sheet | undefined {
  const key = tabKey(tab)
  return (
    sheets.find(({ title }) => title === tab) ?? sheets.find(({ title }) => tabKey(title) === key)
  )
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
