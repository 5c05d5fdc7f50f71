import { resolve } from 'node:path'
import type { Files } from '../src/config/read-file.ts'
import type { Variables } from '../src/config/reader.ts'
import { sitesJson } from '../src/config/sites/sites-file.ts'
import { isRecord } from '../src/signup/json.ts'

interface SandboxSites {
  /** What `ROLLCALL_CONFIG` is in the sandbox; undefined when it is not set. */
  readonly config?: string
  /** The names of its sites; undefined when there is no file that can be read. */
  readonly names?: readonly string[]
}

/**
 * The sites of `ROLLCALL_CONFIG` with emulated spreadsheets, and with the account and the challenge of the
 * sandbox. A file that cannot be read stays as it is: the service tells what is wrong with it.
 */
export function sandboxSites({
  variables,
  ...files
}: Files & { readonly variables: Variables }): SandboxSites {
  const text = variables['ROLLCALL_CONFIG']?.trim() ?? ''
  if (text === '') return {}
  const parsed = sitesJson(files)(text)
  const file = 'value' in parsed ? { ...parsed.value } : {}
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
  const { credentialsFile: _account, challenge: _challenge, ...others } = site
  return { ...others, spreadsheet: sandboxSpreadsheet(name) }
}

/** The id of a site's spreadsheet. */
export function sandboxSpreadsheet(name: string): string {
  return `sandbox-spreadsheet-${name.replace(/[^\w-]/g, '-').slice(0, 40)}`
}
