import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { ZipFile } from 'yazl'
import { type Cell, headingsOf, noColumns, toRow } from '../../signup/row.ts'
import type { Sink } from '../terminal/output.ts'
import type { ExportFormat } from './formats.ts'

/** The most rows that spreadsheet programs take in one sheet, the header row included. */
const sheetRowsMax = 1_048_576

/**
 * An Excel workbook (Office Open XML). Every cell is text, but for numbers and checkboxes. A sheet that is full is followed by another
 * one. Only a page of rows is in memory at a time.
 */
export function xlsxFormat(sink: Sink, own = noColumns, rowsMax = sheetRowsMax): ExportFormat {
  const zip = new ZipFile()
  const written = pump(zip, sink)
  // `finish` reports the failure, or the next row does.
  written.catch(() => {})
  let sheets = 0
  let rows = 0
  let sheet: PassThrough | undefined

  const write = async (xml: string) => {
    // A failed sink takes nothing any more: do not wait for it.
    if (sheet?.write(xml) === false) await Promise.race([once(sheet, 'drain'), written])
  }
  const begin = async () => {
    sheets += 1
    rows = 1
    sheet = new PassThrough()
    zip.addReadStream(sheet, sheetPath(sheets))
    await write(sheetStart + rowXml(headingsOf(own)))
  }
  const end = () => sheet?.end(sheetEnd)
  return {
    async write(page) {
      let xml = ''
      for (const { signup } of page) {
        if (!sheet || rows === rowsMax) {
          await write(xml)
          xml = ''
          end()
          await begin()
        }
        xml += rowXml(toRow(signup, signup.sheetTab, own))
        rows += 1
      }
      await write(xml)
    },
    async finish() {
      if (!sheet) await begin()
      end()
      for (const [path, xml] of bookFiles(sheets)) zip.addBuffer(Buffer.from(xml), path)
      zip.end()
      await written
    },
  }
}

async function pump(zip: ZipFile, sink: Sink): Promise<void> {
  for await (const chunk of zip.outputStream) await sink.write(chunk)
}

const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const packageRelations = 'http://schemas.openxmlformats.org/package/2006/relationships'
const contentTypes = 'http://schemas.openxmlformats.org/package/2006/content-types'
const types = 'application/vnd.openxmlformats-officedocument.spreadsheetml'

const sheetStart = `${declaration}<worksheet xmlns="${main}"><sheetData>`
const sheetEnd = '</sheetData></worksheet>'

function rowXml(cells: readonly Cell[]): string {
  return `<row>${cells.map(cellXml).join('')}</row>`
}

function cellXml(cell: Cell): string {
  if (cell === '') return '<c/>'
  if (typeof cell === 'number') return `<c><v>${cell}</v></c>`
  if (typeof cell === 'boolean') return `<c t="b"><v>${Number(cell)}</v></c>`
  return `<c t="inlineStr"><is><t xml:space="preserve">${escaped(cell)}</t></is></c>`
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** Excel reads `_x0041_` as the character with this number, so the underscore of such a text is escaped. */
function escaped(text: string): string {
  return (
    text
      .replace(/_(?=x[\dA-Fa-f]{4}_)/g, '_x005F_')
      .replace(/[&<>]/g, (sign) => entities[sign] ?? '')
      // XML has no such characters.
      .replace(/[\uFFFE\uFFFF]/g, '')
  )
}

function sheetPath(sheet: number): string {
  return `xl/worksheets/sheet${sheet}.xml`
}

function bookFiles(count: number): readonly (readonly [path: string, xml: string])[] {
  const sheets = Array.from({ length: count }, (_, at) => at + 1)
  const each = (xml: (sheet: number) => string) => sheets.map(xml).join('')
  const relation = (id: number, type: string, target: string) =>
    `<Relationship Id="rId${id}" Type="${relations}/${type}" Target="${target}"/>`
  return Object.entries({
    '[Content_Types].xml':
      `${declaration}<Types xmlns="${contentTypes}">` +
      '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
      `<Override PartName="/xl/workbook.xml" ContentType="${types}.sheet.main+xml"/>` +
      each(
        (sheet) =>
          `<Override PartName="/${sheetPath(sheet)}" ContentType="${types}.worksheet+xml"/>`,
      ) +
      '</Types>',
    '_rels/.rels': `${declaration}<Relationships xmlns="${packageRelations}">${relation(1, 'officeDocument', 'xl/workbook.xml')}</Relationships>`,
    'xl/workbook.xml':
      `${declaration}<workbook xmlns="${main}" xmlns:r="${relations}"><sheets>` +
      each((sheet) => `<sheet name="Signups ${sheet}" sheetId="${sheet}" r:id="rId${sheet}"/>`) +
      '</sheets></workbook>',
    'xl/_rels/workbook.xml.rels':
      `${declaration}<Relationships xmlns="${packageRelations}">` +
      each((sheet) => relation(sheet, 'worksheet', `worksheets/sheet${sheet}.xml`)) +
      '</Relationships>',
  })
}
