import type { Expected, Inspect } from '../inspection.ts'
import type { Finding } from '../../signup/finding.ts'
import { AccessTokens } from './access-token.ts'
import { fieldIn, listIn, textOf } from './answer.ts'
import { clockFinding, watchDate } from './clock-check.ts'
import { checkEditing } from './edit-check.ts'
import { callFinding, tokenFinding } from './failure-finding.ts'
import type { GoogleSheetsOptions } from './google-sheets.ts'
import { markersIn, shortNameOf } from './markers.ts'
import { SheetsApi } from './sheets-api.ts'
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
    const { access, tokenUrl, clock, digest } = options
    const dated = watchDate(options.http, tokenUrl, clock)
    const tokens = new AccessTokens({ ...options, email: access.email, http: dated.http })
    const token = await tokens.get(signal)
    yield clockFinding(dated.offMs())
    if (token.kind !== 'token') {
      yield tokenFinding(token)
      yield* skipped('api', 'there is no access token')
      return
    }
    yield { check: 'token', state: 'ok', message: 'Google gives an access token for the key' }

    const api = new SheetsApi({ ...options, tokens })
    const loaded = await api.call({ method: 'GET', path: spreadsheetPath }, signal)
    if (loaded.kind !== 'ok') {
      const isAboutAccess =
        loaded.kind === 'refused' &&
        ['permission', 'notFound', 'noSpreadsheet'].includes(loaded.reason)
      if (isAboutAccess) yield { check: 'api', state: 'ok', message: 'the Sheets API answers' }
      yield callFinding(isAboutAccess ? 'spreadsheet' : 'api', loaded)
      yield* skipped(isAboutAccess ? 'editor' : 'spreadsheet', 'the spreadsheet cannot be read')
      return
    }
    yield { check: 'api', state: 'ok', message: 'the Sheets API answers' }
    yield* aboutSpreadsheet(loaded.body, shortNameOf(access.spreadsheetId, digest), expected)
    yield await checkEditing(api, access, signal)
    yield* await checkTabs(loaded.body, expected, { api, access, clock }, signal)
    const { isNearlyFull, message, hint } = fillOf(readSheets(loaded.body))
    yield { check: 'room', message, ...(isNearlyFull ? { state: 'fault', hint } : { state: 'ok' }) }
  }
}

const spreadsheetPath = `?fields=${encodeURIComponent(
  `properties.title,sheets(${sheetFields},${protectionFields}),` +
    'developerMetadata(metadataId,metadataKey,metadataValue)',
)}`

function skipped(from: (typeof checks)[number], reason: string): readonly Finding[] {
  return checks
    .slice(checks.indexOf(from))
    .map((check) => ({ check, state: 'skipped', message: `not checked: ${reason}` }))
}

async function* aboutSpreadsheet(
  spreadsheet: unknown,
  shortName: string,
  { isOwn }: Expected,
): AsyncIterable<Finding> {
  const check = 'spreadsheet'
  const title = JSON.stringify(textOf(fieldIn(spreadsheet, 'properties', 'title')))
  yield { check, state: 'ok', message: `${title} is found` }
  const markers = markersIn(listIn(spreadsheet, 'developerMetadata'), shortName)
  const own = await Promise.all(markers.map(({ fingerprint }) => isOwn(fingerprint)))
  const foreign = own.filter((isOurs) => !isOurs)
  if (foreign.length === 0) return
  yield {
    check,
    state: 'warning',
    message: `markers of another journal are in the spreadsheet: ${foreign.length}`,
    hint: 'Make sure that no second Rollcall with another DATA_DIR writes to this spreadsheet.',
  }
}
