// @module-tag slow
import { sheets, type sheets_v4 } from '@googleapis/sheets'
import { JWT } from 'google-auth-library'
import { expect, test } from 'vitest'
import { startGoogleEmulator, type GoogleEmulator } from '../../emulators/google-sheets/server.ts'

/** Google's own client for the Sheets API, pointed at the emulator by its public options. */
function googleClient(emulator: GoogleEmulator, account = emulator.createServiceAccount()) {
  const auth = new JWT({
    email: account.email,
    key: account.privateKeyPem,
    scopes: ['https://www.googleapis.com/auth/spreadsheets'],
    transporterOptions: {
      // The library has no option for the token URL.
      fetchImplementation: (input, init) => {
        const url = String(input instanceof Request ? input.url : input)
        return fetch(url.replace('https://oauth2.googleapis.com/token', emulator.tokenUrl), init)
      },
    },
  })
  const api = sheets({ version: 'v4', auth, rootUrl: `${emulator.url}/`, retry: false })
  return { api, account }
}

/** The error body of a refused call. */
async function refusal(call: Promise<unknown>): Promise<{ status: number; message: string }> {
  try {
    await call
  } catch (error) {
    if (error instanceof Error && 'status' in error) {
      return { status: Number(error.status), message: error.message }
    }
    throw error
  }
  throw new Error('The call was expected to be refused.')
}

/** A marker, a new tab and its first rows, in one call. */
const peopleRequests: sheets_v4.Schema$Request[] = [
  {
    createDeveloperMetadata: {
      developerMetadata: {
        metadataId: 7,
        metadataKey: 'marker',
        metadataValue: 'first',
        visibility: 'DOCUMENT',
        location: { spreadsheet: true },
      },
    },
  },
  {
    addSheet: {
      properties: {
        sheetId: 42,
        title: 'People',
        gridProperties: { rowCount: 2, columnCount: 2, frozenRowCount: 1 },
      },
    },
  },
  {
    appendCells: {
      sheetId: 42,
      fields: 'userEnteredValue',
      rows: [
        { values: [{ userEnteredValue: { stringValue: 'Name' } }] },
        { values: [{ userEnteredValue: { stringValue: '=1+1' } }] },
        { values: [{ userEnteredValue: { numberValue: 3 } }, {}] },
      ],
    },
  },
]

test("Google's own client signs in, makes a tab, appends rows and reads them back", async () => {
  await using emulator = await startGoogleEmulator()
  const { api, account } = googleClient(emulator)
  const { id } = emulator.createSpreadsheet({ sharedWith: account.email })
  const batch = () =>
    api.spreadsheets.batchUpdate({
      spreadsheetId: id,
      fields: 'replies,updatedSpreadsheet.sheets.properties(sheetId,title,gridProperties)',
      requestBody: { requests: peopleRequests, includeSpreadsheetInResponse: true },
    })
  const { data } = await batch()
  expect(data.replies?.[0]?.createDeveloperMetadata?.developerMetadata).toEqual({
    metadataId: 7,
    metadataKey: 'marker',
    metadataValue: 'first',
    location: { locationType: 'SPREADSHEET', spreadsheet: true },
    visibility: 'DOCUMENT',
  })
  expect(data.replies?.[2]).toEqual({})
  expect(data.updatedSpreadsheet?.sheets?.[1]?.properties).toEqual({
    sheetId: 42,
    title: 'People',
    gridProperties: { rowCount: 3, columnCount: 2, frozenRowCount: 1 },
  })

  expect(await refusal(batch())).toEqual({
    status: 400,
    message:
      'Invalid requests[0].createDeveloperMetadata: Cannot add developer metadata with ID [7] because developer metadata with that ID already exists.',
  })
  expect(emulator.spreadsheet(id).rows('People')).toEqual([['Name'], ['=1+1'], ['3']])

  const read = await api.spreadsheets.get({
    spreadsheetId: id,
    ranges: ["'People'!A2:B"],
    fields: 'sheets.data.rowData.values.formattedValue',
  })
  expect(read.data.sheets?.[0]?.data?.[0]?.rowData).toEqual([
    { values: [{ formattedValue: '=1+1' }] },
    { values: [{ formattedValue: '3' }] },
  ])
  const marker = await api.spreadsheets.developerMetadata.get({ spreadsheetId: id, metadataId: 7 })
  expect(marker.data.metadataValue).toBe('first')
  const found = await api.spreadsheets.developerMetadata.search({
    spreadsheetId: id,
    requestBody: { dataFilters: [{ developerMetadataLookup: { metadataKey: 'marker' } }] },
  })
  expect(found.data.matchedDeveloperMetadata?.[0]?.developerMetadata?.metadataId).toBe(7)
  expect(emulator.counters).toEqual({ reads: 3, writes: 2, tokens: 1 })
})
