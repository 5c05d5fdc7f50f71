import { type NamedSites, readNamedSites } from './named-sites.ts'
import type { Files } from './read-file.ts'
import type { SettingsReader, Variables } from './reader.ts'
import { readDefaultSite, wantsGoogle } from './site.ts'
import { sitesJson } from './sites-file.ts'

export interface Sites extends Omit<NamedSites, 'secretVariables'> {
  /** Whether a file names them. */
  readonly isNamed: boolean
  /** As in `NamedSites`; undefined when no file names the sites. */
  readonly secretVariables: ReadonlySet<string> | undefined
}

/** Reads the sites: those of the file that `ROLLCALL_CONFIG` names, or else the one of the environment. */
export function readSites(
  reader: SettingsReader,
  environment: Files & { readonly variables: Variables },
): Sites {
  if (reader.text('ROLLCALL_CONFIG') === undefined) {
    const sites = [readDefaultSite(reader, environment)]
    const hasWorkbook = !wantsGoogle(reader)
    return { isNamed: false, sites, problems: [], secretVariables: undefined, hasWorkbook }
  }
  const file = reader.optional('ROLLCALL_CONFIG', sitesJson(environment))
  const named = readNamedSites(file ?? { sites: {} }, reader, environment)
  // The reader tells why the file cannot be read.
  return { ...named, isNamed: true, problems: file ? named.problems : [] }
}
