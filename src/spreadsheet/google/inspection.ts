import type { Expected, Inspect } from '../inspection.ts'
import { type Finding, findingsOf } from '../../platform/finding.ts'
import { AccessTokens } from './access-token.ts'
import { fieldIn, listIn, textOf } from './answer.ts'
import { clockFinding, watchDate } from './clock-check.ts'
import type { Access } from './failure.ts'
import { callFinding, tokenFinding } from './failure-finding.ts'
import type { GoogleSheetsOptions } from './google-sheets.ts'
import { FirstRows } from './first-rows.ts'
import { createdMarker, deletedMarkers, markerReplies, markersIn, shortNameOf } from './markers.ts'
import { createMetadata, deleteMetadata } from './requests.ts'
import { listSheets } from './sheet-parts.ts'
import { reading, SheetsApi } from './sheets-api.ts'
import { fillOf, readSheets, sheetFields } from './sheets.ts'
import { checkTabs, protectionFields } from './tabs-check.ts'

/** In this order. The last four need an answer of the Sheets API. */
const checks = ['clock', 'token', 'api', 'spreadsheet', 'editor', 'tabs', 'room'] as const

/**
 * Makes at most five calls to the Sheets API: one for the spreadsheet, one that writes, and up to three
 * for the first rows of its tabs. Each goes through the gate.
 */
export function googleInspection(options: Omit<GoogleSheetsOptions, 'random'>): Inspect {
  return async function* inspect(expected, signal) {
    const { apiUrl, clock } = options
    const dated = watchDate(options.http, apiUrl, clock)
    const watched = { ...options, http: dated.http }
    const tokens = new AccessTokens(watched)
    const token = await tokens.get(signal)
    if (token.kind !== 'token') {
      yield clockFinding(dated.offMs())
      yield tokenFinding(token)
      yield* skipped('api', 'there is no access token')
      return
    }
    const { email = options.access.email } = token
    const access = { ...options.access, email }
    const api = new SheetsApi({ ...watched, tokens })
    const isDated = dated.offMs() !== undefined
    if (isDated) yield clockFinding(dated.offMs())
    yield findingsOf('token').ok(`Google gives an access token for spreadsheets to ${email}`)
    const loaded = await api.call({ method: 'GET', path: spreadsheetPath }, signal)
    // A token of the metadata server comes without Google's time.
    if (!isDated) yield clockFinding(dated.offMs())
    if (loaded.kind !== 'ok') {
      const isAboutAccess =
        loaded.kind === 'refused' &&
        ['permission', 'notFound', 'noSpreadsheet'].includes(loaded.reason)
      if (isAboutAccess) yield apiAnswers
      yield callFinding(isAboutAccess ? 'spreadsheet' : 'api', loaded)
      yield* skipped(isAboutAccess ? 'editor' : 'spreadsheet', 'the spreadsheet cannot be read')
      return
    }
    yield apiAnswers
    yield* aboutSpreadsheet(loaded.body, shortNameOf(access.spreadsheetId), expected)
    yield await checkEditing(api, access, signal)
    yield* await checkTabs(loaded.body, expected, { api, access, clock }, signal)
    const { isNearlyFull, message, hint } = fillOf(readSheets(loaded.body))
    const { ok, fault } = findingsOf('room')
    yield isNearlyFull ? fault(message, hint) : ok(message)
  }
}

/** Finds the titles of the tabs with cells, and whether the only tab is empty. Makes at most three calls. */
export function findTabs(options: Parameters<typeof googleInspection>[0], signal: AbortSignal) {
  const tokens = new AccessTokens(options)
  const api = new SheetsApi({ ...options, tokens })
  const firstRows = new FirstRows(api, options.clock)
  return reading(async () => {
    const sheets = await listSheets(api, signal)
    const grids = sheets.filter(({ isGrid }) => isGrid)
    if (sheets.length === 1) await firstRows.look(grids, signal)
    const isNew = sheets.length === 1 && grids.every((it) => !firstRows.get(it.sheetId))
    return { kind: 'found' as const, titles: grids.map(({ title }) => title), isNew }
  })
}

const apiAnswers = findingsOf('api').ok('the Sheets API answers')

const spreadsheetPath = `?fields=${encodeURIComponent(
  `properties.title,sheets(${sheetFields},${protectionFields}),` +
    'developerMetadata(metadataId,metadataKey,metadataValue)',
)}`

function skipped(from: (typeof checks)[number], reason: string): readonly Finding[] {
  return checks
    .slice(checks.indexOf(from))
    .map((check) => findingsOf(check).skipped(`not checked: ${reason}`))
}

async function* aboutSpreadsheet(
  spreadsheet: unknown,
  shortName: string,
  { isOwn }: Expected,
): AsyncIterable<Finding> {
  const { ok, warning } = findingsOf('spreadsheet')
  yield ok(`${JSON.stringify(textOf(fieldIn(spreadsheet, 'properties', 'title')))} is found`)
  const markers = markersIn(listIn(spreadsheet, 'developerMetadata'), shortName)
  const own = await Promise.all(markers.map(({ fingerprint }) => isOwn(fingerprint)))
  const foreign = own.filter((isOurs) => !isOurs).length
  if (foreign === 0) return
  yield warning(
    `markers of another journal are in the spreadsheet: ${foreign}`,
    'Make sure that no second Rollcall with another DATA_DIR writes to this spreadsheet.',
  )
}

/** The metadata key of this check. It is not the key of markers, so that delivery never touches it. */
const checkKey = 'rollcall.check'

/**
 * Checks that the account may write, by one batch that makes developer metadata and deletes it again.
 * People do not see developer metadata. A batch is applied as a whole or not at all, so nothing stays
 * even when its answer is lost.
 */
async function checkEditing(
  api: SheetsApi,
  { email }: Access,
  signal: AbortSignal,
): Promise<Finding> {
  const { ok, warning, fault } = findingsOf('editor')
  const requests = [
    createMetadata({ metadataKey: checkKey }),
    deleteMetadata({ metadataKey: checkKey }),
  ]
  const path = `:batchUpdate?fields=${encodeURIComponent(markerReplies)}`
  const body = `{"requests":[${requests.join()}]}`
  const result = await api.call({ method: 'POST', path, body }, signal)
  if (result.kind === 'refused' && result.reason === 'permission') {
    const message = `${result.message}: it is shared with ${email}, but not as Editor`
    return fault(message, result.hint)
  }
  if (result.kind !== 'ok') return callFinding('editor', result)
  if (deletedMarkers(result.body).has(createdMarker(result.body))) {
    return ok(`${email} may write`)
  }
  return warning(
    `${email} may write, but Google did not delete the developer metadata of this check`,
    'Run this command again: it deletes what is left. People do not see developer metadata.',
  )
}
