import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'

import { idOfBytes } from '../../src/journal/tables/rows.ts'
import { postSignup } from '../../harness/post-signup.ts'

/** A signup that was answered with 2xx. */
export interface AcceptedSignup {
  readonly id: string
  readonly email: string
  readonly tab: string
}

const receipt = z.object({ id: z.string() })

export interface Load {
  readonly tabs: readonly string[]
  readonly visitorsAtOnce: number
  /** The pause between two signups of one visitor. */
  readonly pauseMs: number
}

/**
 * Lets several visitors sign up again and again until the service is gone. Each signup has an address of
 * its own, which begins with `prefix`.
 *
 * @returns the signups that were answered with 202.
 */
export async function signUpUntilGone(
  url: string,
  prefix: string,
  { tabs, visitorsAtOnce, pauseMs }: Load,
): Promise<AcceptedSignup[]> {
  const accepted: AcceptedSignup[] = []
  let count = 0
  const visitor = async () => {
    for (;;) {
      const email = `${prefix}.${(count += 1)}@example.com`
      const tab = tabs[count % tabs.length] ?? 'Sheet1'
      const answer = await postSignup(url, { email, sheetTab: tab })
      const body: unknown = await answer.json()
      if (answer.status !== 202) throw new Error(`A signup was answered ${answer.status}.`)
      accepted.push({ id: receipt.parse(body).id, email, tab })
      if (pauseMs > 0) await sleep(pauseMs)
    }
  }
  // fetch throws a TypeError when the connection is refused or ends. Any other error is a bug.
  const gone = (error: unknown) => {
    if (!(error instanceof TypeError)) throw error
  }
  await Promise.all(Array.from({ length: visitorsAtOnce }, () => visitor().catch(gone)))
  return accepted
}

const journalRow = z.object({
  id: z.instanceof(Uint8Array).transform(idOfBytes),
  email: z.string(),
  tab: z.string(),
})

/** Every signup in the journal of a service that has ended, in the order of acceptance. */
export function readJournal(dataDir: string): AcceptedSignup[] {
  using database = new DatabaseSync(join(dataDir, 'journal.db'), { readOnly: true })
  return database
    .prepare(
      `SELECT signup.id, email, tab.name AS tab FROM signup JOIN tab ON tab.id = signup.tab
       ORDER BY position`,
    )
    .all()
    .map((row) => journalRow.parse(row))
}
