/** The calls that the emulator answers. `token` is one of OAuth, and the others are of the Sheets API. */
export const callKinds = [
  'token',
  'get',
  'batchUpdate',
  'developerMetadata.get',
  'developerMetadata.search',
] as const
export type CallKind = (typeof callKinds)[number]

export type SheetsCallKind = Exclude<CallKind, 'token'>

export interface Route {
  readonly kind: SheetsCallKind
  /** The quota that the call counts against. A write also needs an Editor. */
  readonly access: 'read' | 'write'
  readonly spreadsheetId: string
  /** The metadata id in the path, decoded; '' without one. */
  readonly argument: string
}

type Access = 'read' | 'write'
const table: readonly (readonly [string, RegExp, SheetsCallKind, Access])[] = [
  ['GET', /^\/([^/:]+)$/, 'get', 'read'],
  ['POST', /^\/([^/:]+):batchUpdate$/, 'batchUpdate', 'write'],
  ['GET', /^\/([^/:]+)\/developerMetadata\/([^/:]+)$/, 'developerMetadata.get', 'read'],
  ['POST', /^\/([^/:]+)\/developerMetadata:search$/, 'developerMetadata.search', 'read'],
]

const base = '/v4/spreadsheets'

/** Finds the call of a request; `undefined` when the API does not have its path. */
export function findRoute(method: string, path: string): Route | undefined {
  if (!path.startsWith(base)) return undefined
  const rest = path.slice(base.length)
  for (const [verb, pattern, kind, access] of table) {
    const match = verb === method ? pattern.exec(rest) : null
    if (!match) continue
    const [, spreadsheetId = '', argument = ''] = match.map(decodePart)
    return { kind, access, spreadsheetId, argument }
  }
  return undefined
}

function decodePart(part: string | undefined): string {
  try {
    return decodeURIComponent(part ?? '')
  } catch {
    return part ?? ''
  }
}
