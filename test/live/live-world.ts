import { type sheets_v4, sheets } from '@googleapis/sheets'
import { OAuth2Client } from 'google-auth-library'

import { loadConfig } from '../../src/config/config.ts'
import { secretsOf } from '../../src/config/secrets.ts'
import { readEnvironment } from '../../src/config/env/env.ts'
import { Account } from '../../src/delivery/account.ts'
import { openSqliteJournal } from '../../harness/sqlite-journal.ts'
import { googleOptions } from '../../src/service/spreadsheets.ts'
import { realWorld } from '../../src/service/world.ts'
import { AccessTokens } from '../../src/spreadsheet/google/access-token.ts'
import { createGoogleSheets } from '../../src/spreadsheet/google/google-sheets.ts'
import { markerKey } from '../../src/spreadsheet/google/markers.ts'
import type { SpreadsheetWorld } from '../spreadsheet/spreadsheet-contract.ts'
import { testSignal } from '../spreadsheet/spreadsheet-contract.ts'

/** The live check deletes everything in its spreadsheet. So it takes only one whose title begins like this. */
const liveTitle = 'Rollcall live test'

/** Google's own client for one spreadsheet, within the quota. */
export interface LiveSpreadsheet {
  readonly id: string
  update(requests: sheets_v4.Schema$Request[]): Promise<sheets_v4.Schema$Response[]>
  get(fields: string): Promise<sheets_v4.Schema$Spreadsheet>
  values(tab: string): Promise<string[][]>
  readonly api: sheets_v4.Sheets
  /** Awaited before every call. */
  readonly gate: () => Promise<boolean>
  connect: SpreadsheetWorld['connect']
}

/** Connects to the spreadsheet in LIVE_SHEET_ID. Rejects when its title does not allow to delete everything. */
export async function connectLive(): Promise<LiveSpreadsheet> {
  const environment = readEnvironment()
  const liveId = environment.variables['LIVE_SHEET_ID']
  if (!liveId) {
    throw new Error(
      `Set LIVE_SHEET_ID to the id of a throwaway spreadsheet whose title begins with "${liveTitle}", ` +
        'and SHEETS_CREDENTIALS_FILE to the key of the service account. docs/decisions/testing.md says how.',
    )
  }
  const variables = { ...environment.variables, SHEETS_SHEET_ID: liveId }
  const { config, secrets } = loadConfig({ ...environment, variables })
  const [site] = config.sites
  const { spreadsheet } = site
  const { signIn } = secretsOf(secrets, site)
  if (spreadsheet.kind !== 'google' || signIn === undefined) {
    throw new Error('The settings name no service account.')
  }
  const { spreadsheetId, credentials, apiUrl, quota } = spreadsheet
  const options = googleOptions({}, spreadsheet, signIn, realWorld)
  const { clock } = options
  const ledger = openSqliteJournal(':memory:').callLedger(credentials.email, clock)
  const gate = new Account({ ledger, quota, clock, sites: 1 }).join().gate
  const tokens = new AccessTokens(options)
  const token = await tokens.get(testSignal)
  if (token.kind !== 'token') throw new Error(`No access token: ${token.message}`)
  const auth = new OAuth2Client()
  auth.setCredentials({ access_token: token.token })
  const api = sheets({ version: 'v4', auth, rootUrl: `${apiUrl}/` })
  const live: LiveSpreadsheet = {
    id: spreadsheetId,
    api,
    gate: () => gate(testSignal),
    connect: () =>
      createGoogleSheets({
        ...{ ...options, random: Math.random, gate },
      }),
    async update(requests) {
      await gate(testSignal)
      const request = { spreadsheetId, requestBody: { requests } }
      return (await api.spreadsheets.batchUpdate(request)).data.replies ?? []
    },
    async get(fields) {
      await gate(testSignal)
      return (await api.spreadsheets.get({ spreadsheetId, fields })).data
    },
    async values(tab) {
      await gate(testSignal)
      const ranges = [`'${tab.replaceAll("'", "''")}'!A1:ZZ`]
      const fields = 'sheets.data.rowData.values.formattedValue'
      const { data } = await api.spreadsheets.get({ spreadsheetId, ranges, fields })
      const rowData = data.sheets?.[0]?.data?.[0]?.rowData ?? []
      const rows = rowData.map(({ values = [] }) => {
        const texts = values.map(({ formattedValue }) => formattedValue ?? '')
        return texts.slice(0, texts.findLastIndex((text) => text !== '') + 1)
      })
      return rows.slice(0, rows.findLastIndex((row) => row.length > 0) + 1)
    },
  }
  const { properties } = await live.get('properties.title')
  const title = properties?.title ?? ''
  if (title.startsWith(liveTitle)) return live
  throw new Error(
    `The spreadsheet in LIVE_SHEET_ID is named "${title}" and was left as it is. Everything in it would be ` +
      `deleted: make a new one and name it "${liveTitle}".`,
  )
}

/** Deletes all tabs and all our markers. Leaves one empty tab. */
export async function clear(live: LiveSpreadsheet): Promise<void> {
  const { sheets: tabs = [], developerMetadata = [] } = await live.get(
    'sheets.properties.sheetId,developerMetadata(metadataId,metadataKey)',
  )
  const markers = developerMetadata.filter(({ metadataKey }) => metadataKey === markerKey)
  await live.update([
    { addSheet: { properties: { title: `empty ${Date.now()}` } } },
    ...tabs.map(({ properties }) => ({ deleteSheet: { sheetId: properties?.sheetId ?? 0 } })),
    ...markers.map(({ metadataId }) => ({
      deleteDeveloperMetadata: {
        dataFilter: { developerMetadataLookup: { metadataId: metadataId ?? 0 } },
      },
    })),
  ])
}

/** The live spreadsheet, emptied, for the contract suite. */
export async function createLiveWorld(live: LiveSpreadsheet): Promise<SpreadsheetWorld> {
  await clear(live)
  const sheetIdOf = async (tab: string): Promise<number | undefined> => {
    const { sheets: tabs = [] } = await live.get('sheets.properties(sheetId,title)')
    return (
      tabs.find(({ properties }) => properties?.title === tab)?.properties?.sheetId ?? undefined
    )
  }
  return {
    connect: live.connect,
    async rows(tab) {
      if ((await sheetIdOf(tab)) === undefined) return undefined
      const rows = await live.values(tab)
      return rows.map((row) => [...row, ...Array<string>(Math.max(0, 7 - row.length)).fill('')])
    },
    async createTab(tab, rows) {
      const [reply] = await live.update([{ addSheet: { properties: { title: tab } } }])
      const sheetId = reply?.addSheet?.properties?.sheetId ?? 0
      if (rows.length === 0) return
      const cells = rows.map((row) => ({
        values: row.map((stringValue) => ({ userEnteredValue: { stringValue } })),
      }))
      await live.update([{ appendCells: { sheetId, rows: cells, fields: 'userEnteredValue' } }])
    },
    async deleteTab(tab) {
      await live.update([{ deleteSheet: { sheetId: (await sheetIdOf(tab)) ?? -1 } }])
    },
    [Symbol.asyncDispose]: async () => undefined,
  }
}
