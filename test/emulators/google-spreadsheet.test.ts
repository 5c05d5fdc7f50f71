import { GoogleSpreadsheet } from 'google-spreadsheet'
import { expect, test } from 'vitest'
import { startGoogleEmulator, type GoogleEmulator } from '../../emulators/google-sheets/server.ts'

/**
 * The `google-spreadsheet` package. It has no option for the address of the API; its HTTP client is
 * a public member, so a client that is derived from it, with another prefix, takes its place.
 */
function openDocument(emulator: GoogleEmulator): GoogleSpreadsheet {
  const { email } = emulator.createServiceAccount()
  const { id } = emulator.createSpreadsheet({ title: 'A document', sharedWith: email })
  const document = new GoogleSpreadsheet(id, { token: emulator.issueToken(email) })
  const prefix = `${emulator.url}/v4/spreadsheets/${id}`
  return Object.assign(document, { sheetsApi: document.sheetsApi.extend({ prefix, retry: 0 }) })
}

test('google-spreadsheet makes a tab, adds rows, reads, changes and deletes them', async () => {
  await using emulator = await startGoogleEmulator()
  const document = openDocument(emulator)
  await document.loadInfo()
  expect(document.title).toBe('A document')

  const sheet = await document.addSheet({ title: 'People', headerValues: ['name', 'age'] })
  await sheet.addRows([
    { name: 'Ada', age: 36 },
    { name: 'Bo', age: '=2*21' },
    { name: 'Cy', age: 5 },
  ])
  const rows = await sheet.getRows()
  expect(rows.map((row): unknown => row.get('name'))).toEqual(['Ada', 'Bo', 'Cy'])

  rows[0]?.set('age', '37')
  await rows[0]?.save()
  await rows[1]?.delete()
  expect(emulator.spreadsheet(document.spreadsheetId).rows('People')).toEqual([
    ['name', 'age'],
    ['Ada', '37'],
    ['Cy', '5'],
  ])
})

test('google-spreadsheet edits and formats cells, resizes and renames a tab', async () => {
  await using emulator = await startGoogleEmulator()
  const document = openDocument(emulator)
  await document.loadInfo()
  const [sheet] = document.sheetsByIndex
  if (!sheet) throw new Error('A fresh spreadsheet has one tab.')

  await sheet.loadCells('A1:C3')
  const cell = sheet.getCellByA1('B2')
  cell.value = 'bold words'
  cell.textFormat = { bold: true }
  sheet.getCellByA1('C3').numberValue = 1.5
  await sheet.saveUpdatedCells()
  await sheet.updateProperties({ title: 'Renamed' })
  await sheet.resize({ rowCount: 10, columnCount: 4 })
  await sheet.loadCells('A1:C3')

  expect(sheet.getCellByA1('B2').value).toBe('bold words')
  expect(sheet.getCellByA1('C3').value).toBe(1.5)
  const handle = emulator.spreadsheet(document.spreadsheetId)
  expect(handle.cells('Renamed')[1]?.[1]).toEqual({
    userEnteredValue: { stringValue: 'bold words' },
    userEnteredFormat: { textFormat: { bold: true } },
  })
  expect(handle.tab('Renamed').gridProperties).toEqual({ rowCount: 10, columnCount: 4 })
  await expect(sheet.updateProperties({ title: '' })).rejects.toThrow('[400]')
})
