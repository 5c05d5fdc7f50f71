import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { openSqliteSites } from '../src/journal/sqlite/sqlite-journal.ts'
import { journalFile } from '../src/service/data-folder.ts'
import { day, hour } from '../src/platform/clock.ts'
import { noFields } from '../src/signup/field.ts'
import { signupIds } from '../src/signup/id.ts'
import type { Signup } from '../src/signup/signup.ts'

/** Where nobody who is made up gets mail. */
export const madeUpDomain = '@people.example'

const days = 31
const names = 'Ada Grace Alan Edsger Barbara Donald Margaret Ken Radia Tim'.split(' ')
const sources = ['landing page', 'landing page', 'landing page', 'podcast', 'newsletter', 'friend']

/**
 * Fills a new journal with the signups of a month that nobody has made: more on weekdays, a launch two weeks
 * ago, and some spam.
 *
 * @param folder the data folder, which has no journal yet
 * @returns how many there are
 */
export async function makeUpMonth(
  folder: string,
  site: string,
  spreadsheet: string,
): Promise<number> {
  const tabs = { namedTabs: ['Sheet1', 'Beta'], holdsSuspects: true }
  const policy = { spreadsheet, defaultTab: 'Sheet1', ...tabs }
  await using journal = openSqliteSites(join(folder, journalFile), new Map([[site, policy]]))
  const signups = madeUp(Date.now())
  await journal.sites.get(site)?.intake.append(signups)
  await chmod(join(folder, journalFile), 0o600)
  return signups.length
}

function madeUp(now: number): readonly Signup[] {
  const random = seeded(31)
  const idOf = signupIds()
  const one = (receivedAt: number, at: number): Signup => {
    const name = names[Math.floor(random() * names.length)] ?? ''
    const isSpam = random() < 0.03
    return {
      id: idOf(receivedAt),
      receivedAt,
      email: `${name.toLowerCase()}-${at}${madeUpDomain}`,
      sheetTab: random() < 0.2 ? 'Beta' : '',
      source: sources[Math.floor(random() * sources.length)] ?? '',
      name: isSpam ? `${name} https://pills.example` : name,
      ...{ tags: [], metadata: '', fields: noFields },
      ...(isSpam && { suspect: ['hidden-field', 'link-in-name'] as const }),
    }
  }
  const times = Array.from({ length: days * 24 }, (_, at) => now - (days * 24 - at) * hour).flatMap(
    (from) => Array.from({ length: countIn(from, now, random) }, () => from + random() * hour),
  )
  return times.toSorted((a, b) => a - b).map((at, index) => one(Math.floor(at), index))
}

/** How many came in an hour: nearly none at night, fewer at weekends, many in the hours of the launch. */
function countIn(from: number, now: number, random: () => number): number {
  const at = new Date(from)
  const byDay = Math.max(0, Math.sin(((at.getUTCHours() - 5) / 24) * 2 * Math.PI))
  const byWeek = [0, 6].includes(at.getUTCDay()) ? 0.4 : 1
  const sinceLaunch = (from - (now - 14 * day)) / day
  const launch = sinceLaunch >= 0 && sinceLaunch < 2 ? 8 * (1 - sinceLaunch / 2) : 0
  return Math.floor((byDay * byWeek * (1 + launch) * 3 + 0.2) * random() * 1.5)
}

/** The same numbers from 0 to 1 each time (Park and Miller). */
function seeded(seed: number): () => number {
  let state = seed
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
}
