import { resolve } from 'node:path'
import type { Files } from '../src/config/read-file.ts'
import type { Variables } from '../src/config/reader.ts'
import { sitesJson } from '../src/config/sites/sites-file.ts'
import { isRecord } from '../src/signup/json.ts'

/**
 * The sites of `ROLLCALL_CONFIG` with emulated spreadsheets, and with the account, the challenge and the
 * webhook of the sandbox. A file that cannot be read stays as it is, without names: the service tells what is
 * wrong with it.
 */
export function sandboxSites({ variables, ...files }: Files & { readonly variables: Variables }): {
  readonly config?: string
  readonly names?: readonly string[]
} {
  const text = variables['ROLLCALL_CONFIG']?.trim() ?? ''
  if (text === '') return {}
  const file = { ...sitesJson(files).parse(text, () => undefined) }
  if (!('sites' in file) || !isRecord(file.sites)) {
    return { config: text.startsWith('{') ? text : resolve(files.folder, text) }
  }
  const sites = Object.entries(file.sites).map(([name, site]) => [name, sandboxed(name, site)])
  return {
    config: JSON.stringify({ ...file, sites: Object.fromEntries(sites) as unknown }),
    names: Object.keys(file.sites),
  }
}

function sandboxed(name: string, site: unknown): unknown {
  if (!isRecord(site)) return site
  const signIn = ['credentialsFile', 'signIn', 'subject']
  const real = [...signIn, 'challenge', 'webhooks', 'chatVariable', 'chatKind']
  const others = Object.entries(site).filter(([key]) => !real.includes(key))
  return { ...Object.fromEntries(others), spreadsheet: sandboxSpreadsheet(name) }
}

/** The id of a site's spreadsheet. */
export function sandboxSpreadsheet(name: string): string {
  return `sandbox-spreadsheet-${name.replace(/[^\w-]/g, '-').slice(0, 40)}`
}
