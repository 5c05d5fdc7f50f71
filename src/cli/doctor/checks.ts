import type { Config } from '../../config/config.ts'
import type { SiteConfig } from '../../config/site.ts'
import type { Check } from './check.ts'
import { databaseChecks } from './database.ts'
import { backlogCheck, noticesCheck, quotaCheck } from './delivery-checks.ts'
import { dataDirCheck, diskCheck, journalCheck, processCheck } from './folder-checks.ts'
import {
  challengeCheck,
  keyCheck,
  originCheck,
  settingsCheck,
  spreadsheetCheck,
} from './setup-checks.ts'

/** Checks that are made one after the other, of the instance or of one site. */
export interface Round {
  readonly site: SiteConfig
  /** What the lines are about: the name of the site, or undefined when they are of the instance. */
  readonly name: string | undefined
  readonly checks: readonly Check[]
}

/**
 * In the order in which they run and are printed: from the settings to what they lead to. When a file
 * names sites, first the instance and then each of these sites.
 */
export function roundsOf(
  { database, hasSites }: Pick<Config, 'database' | 'hasSites'>,
  sites: Config['sites'],
): readonly Round[] {
  const [site] = sites
  const places = [...(database ? databaseChecks : folderChecks), noticesCheck]
  const name = undefined
  if (!hasSites) {
    return [{ site, name, checks: [settingsCheck, ...setupChecks, ...places, ...deliveries] }]
  }
  return [
    { site, name, checks: [settingsCheck, ...places] },
    ...sites.map((it) => ({ site: it, name: it.name, checks: [...setupChecks, ...deliveries] })),
  ]
}

/** What a site is set up with, and what has become of its signups. */
const setupChecks: readonly Check[] = [keyCheck, spreadsheetCheck, challengeCheck, originCheck]
const deliveries: readonly Check[] = [backlogCheck, quotaCheck]

const folderChecks: readonly Check[] = [dataDirCheck, diskCheck, journalCheck, processCheck]
