import { day, hour } from '../../../platform/clock.ts'
import type { Millis } from '../../../signup/signup.ts'
import { givenPositions, type Row, statementsOf, type Step } from '../../sql.ts'
import { besideState, messageStage } from '../layout.ts'
import type { Site } from '../site.ts'
import { adding, allTime } from '../tally.ts'

/** How a pending signup ends. Each has its end from its first commit. */

const { pending, confirmed, over, declined } = besideState

/** For how long a mail may wait that asks for a confirmation. */
export const mailWaitsMs = 30 * day

/** What a signup beside the list has in its cells when they are erased. Its status still tells its tab. */
export const erasedPending = `email = '', source = '', name = '', tags = '', metadata = '', fields = '',
  language = '', share = '', signals = '', mail_wanted = false`

/** Finds the mails that ask for a pending signup. */
export const askingMails = `SELECT 1 FROM message
  WHERE message.site = pending.site AND message.person = pending.person AND message.kind = 'confirm'
    AND message.pending = pending.number`

/** Finds those of them that wait. */
export const waitingMails = `${askingMails} AND stage < ${messageStage.sent}`

/** Counts those of the site $1 as pending no more that are so and for which this holds. To run before they change. */
export function closing(condition: string): string {
  return adding(`SELECT $1, 'ended', ${allTime}, '', count(*) FROM pending
                 WHERE state = ${pending} AND ${condition}`)
}

const sql = statementsOf('ending', ({ given }) => {
  // No index of the site: that would find all of them.
  const isGiven = `site + 0 = $1
    AND number IN (SELECT position FROM ${given('asked', '$2', { position: 'number' })})`
  return {
    close: closing(isGiven),
    // A held one has no place among those that get mails.
    end: `UPDATE pending SET ${erasedPending},
            state = CASE WHEN $4 AND signals = '' THEN ${declined} ELSE ${over} END,
            expires_at = CASE WHEN expires_at > $3 THEN $3 ELSE expires_at END
          WHERE ${isGiven}`,
    open: `UPDATE pending SET expires_at = $2
           WHERE number = $1 AND state <> ${confirmed} AND expires_at > $3`,
  }
})

/**
 * When a signup expires that is asked for now, by a mail that goes now or by none. It is a full hour, as the
 * moment would tell whether a mail has gone.
 */
export function endOf({ confirmation }: Site['policy'], now: Millis): Millis {
  return Math.ceil((now + (confirmation?.waitMs ?? 7 * day)) / hour) * hour
}

/** When a signup expires at the latest, while its mail waits. */
export function lastEndOf(policy: Site['policy'], now: Millis): Millis {
  return endOf(policy, now + mailWaitsMs)
}

/** The numbers of these rows of `pending`, as given positions. */
export function givenNumbers(rows: readonly Row[]): string {
  return givenPositions(rows.map(({ number }) => Number(number)))
}

/** Sets the end of one whose mail was sent now, or would have been: one that has ended already tells the same. */
export function stepToOpen(number: number, policy: Site['policy'], now: Millis): Step {
  return [sql.open, number, endOf(policy, now), now]
}

/**
 * Erases pending signups with these numbers. Their status tells nothing of that until they would have expired;
 * nor do those of later ones, when they were declined.
 */
export function stepsToEnd(
  { id, policy, noteErased }: Pick<Site, 'id' | 'policy' | 'noteErased'>,
  numbers: string,
  now: Millis,
  areDeclined = false,
): readonly Step[] {
  const end: Step = [sql.end, id, numbers, endOf(policy, now), areDeclined]
  return [[sql.close, id, numbers], end, ...noteErased()]
}
