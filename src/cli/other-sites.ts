import type { Config } from '../config/config.ts'
import type { OpenReader } from '../journal/contracts/journal.ts'
import type { Session } from './session.ts'
import { listOfSites } from './site-option.ts'

/**
 * Tells which sites with signups the journal has and the settings do not. Without the service's
 * ROLLCALL_CONFIG, a command would show zeros and say nothing.
 */
export async function tellOtherSites(
  config: Pick<Config, 'sites' | 'hasSites'>,
  { sites }: Pick<OpenReader, 'sites'>,
  notes: Session['notes'],
): Promise<void> {
  const known = new Set(config.sites.map(({ name }) => name))
  const others: string[] = []
  for (const [name, reader] of sites) {
    if (known.has(name)) continue
    const { all } = await reader.figures(0, 0)
    if (all.accepted > 0) others.push(name)
  }
  if (others.length === 0) return
  const what = config.hasSites
    ? 'Put them back into the file of ROLLCALL_CONFIG to see them.'
    : 'Set ROLLCALL_CONFIG as the service has it to see them.'
  notes.tell(
    `The journal also has signups of sites that the settings do not have: ${listOfSites(others.toSorted())}. ${what}`,
  )
}
