import { day } from '../../platform/clock.ts'
import { mailboxOf } from '../../signup/mailbox.ts'
import type { Millis, Signup, SignupId } from '../../signup/signup.ts'
import type { AppendTerms } from '../contracts/intake-log.ts'
import { recipientLimits } from '../contracts/outbox.ts'
import { addressHash, personOf, shareHash } from '../hashes.ts'
import { ask, type Operation, rowReader, statementsOf, type Step } from '../sql.ts'
import { besideState, messageStage, rowStatus } from './layout.ts'
import type { Site } from './site.ts'

const { resting, ready, claimed, sent } = messageStage
const { pauseMs, dayMs, aDayOfSite, aDay } = recipientLimits

/** In which order messages go. A welcome after a confirmation does not wait for the pause of its mailbox. */
export const ranks = { confirm: 0, welcomeAtOnce: 1, welcome: 2, report: 3, notice: 4 } as const

/**
 * When the limits let the next message of the site $1 go to the mailbox `recipient`: in one row, as `at`; 0 when
 * they do now.
 *
 * @param of.paused a condition, under which the pause counts
 * @param of.except a message that does not count itself
 */
export function waitSql(of: { recipient: string; paused: string; except?: string }): string {
  const { recipient, paused, except = '0' } = of
  const from = `FROM sending WHERE sending.recipient = ${recipient} AND sending.message <> ${except}`
  const nth = (nth: number, more = '') =>
    `(SELECT at ${from}${more} ORDER BY at DESC LIMIT 1 OFFSET ${nth - 1})`
  return `(SELECT coalesce(max(at), 0) AS at FROM (
    SELECT max(at) + ${pauseMs} AS at ${from} AND ${paused}
    UNION ALL SELECT ${nth(aDayOfSite, ` AND sending.site = $1`)} + ${dayMs}
    UNION ALL SELECT ${nth(aDay)} + ${dayMs}) AS waits)`
}

/** Whether a person wants no mail of the site $1, in SQL; or the mailbox does not, where one was declined. */
export function isBlocked(person: string, recipient: string, now: string): string {
  return `EXISTS (SELECT 1 FROM block WHERE block.site = $1 AND block.person IN (${person}, ${recipient})
    AND (block.person = ${person} OR block.why = 'declined')
    AND (block.until IS NULL OR block.until > ${now}))`
}

/** Whether a mail that asks this person waits or is being sent, in SQL. */
function isAsking(person: string): string {
  return `EXISTS (SELECT 1 FROM message WHERE message.site = $1 AND message.person = ${person}
    AND message.kind = 'confirm' AND message.stage < ${sent})`
}

/** At most how many pending signups one transaction decides on. That takes some milliseconds. */
export const askedBackAtOnce = 200

const sql = statementsOf('mails', ({ id }) => {
  // Fair turns: each message of a share comes a turn after its last one, and none before what was sent last.
  const turn = `(SELECT max(turn) FROM (
      SELECT max(turn) AS turn FROM message WHERE site = $1 AND share = $7 AND stage < ${claimed}
      UNION ALL SELECT value FROM counter WHERE name = 'turn'
      UNION ALL SELECT 0) AS turns) + 1`
  const mail = (kind: string, rank: string, madeAt: string, paused: string, condition: string) => `
    INSERT INTO message (number, id, site, kind, rank, turn, person, recipient, email, language, share,
      body, made_at, stage, next_at)
    SELECT (SELECT coalesce(max(number), 0) FROM message) + 1, $2, $1, '${kind}', ${rank}, ${turn},
      $3, $4, $5, $6, $7, '', ${madeAt}, CASE WHEN wait.at > $8 THEN ${resting} ELSE ${ready} END, wait.at
    FROM ${waitSql({ recipient: '$4', paused })} AS wait
    WHERE NOT ${isBlocked('$3', '$4', '$8')} AND ${condition}`
  return {
    // The mail before it confirms all, as long as that can be confirmed.
    confirm: mail(
      'confirm',
      String(ranks.confirm),
      '$9',
      'true',
      `NOT ${isAsking('$3')}
       AND (wait.at <= $8 OR NOT EXISTS (
         SELECT 1 FROM pending WHERE pending.site = $1 AND pending.person = $3
           AND state = ${besideState.pending} AND expires_at > $8))`,
    ),
    wanted: `SELECT number, person, email, language, share, received_at AS "receivedAt" FROM pending
             WHERE site = $1 AND mail_wanted ORDER BY number LIMIT ${askedBackAtOnce}`,
    // Null while a mail is on its way, from whose sending the time counts.
    decided: `UPDATE pending SET mail_wanted = false,
                expires_at = CASE WHEN NOT ${isAsking('pending.person')} THEN CAST($3 AS bigint) END,
                kept_until = CASE WHEN NOT ${isAsking('pending.person')} THEN CAST($3 AS bigint) END
              WHERE number = $2 AND site = $1`,
    welcome: mail(
      'welcome',
      'CAST($9 AS integer)',
      '$8',
      `$9 > ${ranks.welcomeAtOnce}`,
      `NOT EXISTS (SELECT 1 FROM message AS earlier
         WHERE earlier.site = $1 AND earlier.person = $3 AND earlier.kind = 'welcome')
       AND EXISTS (SELECT 1 FROM signup WHERE id = ${id('$10')} AND row_status = ${rowStatus.wanted})`,
    ),
    readdress: `UPDATE message SET email = $3
                WHERE site = $1 AND person = $2 AND kind = 'welcome' AND email = ''`,
  }
})

/** Who gets a mail. */
interface Recipient {
  readonly email: string
  readonly language: string
  /** As `shareHash` says; or empty. */
  readonly share: string
  /** As `personOf` says, when it is known. */
  readonly person?: string
}

/** The values of a mail from $1 to $8. */
function valuesOf({ id, secret }: Pick<Site, 'id' | 'secret'>, to: Recipient, now: Millis) {
  const { email, language, share, person = personOf(addressHash(secret, email)) } = to
  const mailbox = mailboxOf(email)
  const isOwn = mailbox === email.toLowerCase()
  const recipient = isOwn ? person : personOf(addressHash(secret, mailbox))
  return [id, newMessageId(now), person, recipient, email, language, share, now] as const
}

/** 22 characters of base64url: the time, so that indexes grow at their end, and 80 random bits. */
function newMessageId(now: Millis): string {
  const bytes = Buffer.from(crypto.getRandomValues(new Uint8Array(16)))
  bytes.writeUIntBE(now, 0, 6)
  return bytes.toString('base64url')
}

const toWanted = rowReader({
  ...{ number: Number, person: String, email: String, language: String, share: String },
  receivedAt: Number,
})

/**
 * Makes the mails that the oldest pending signups want: none where one is on its way, where the one before is
 * to confirm this, too, or where the person wants none. Returns how many it has decided on.
 */
export function* askingBack(
  { id, secret, policy }: Pick<Site, 'id' | 'secret' | 'policy'>,
  now: Millis,
): Operation<number> {
  const [{ rows }] = yield* ask([sql.wanted, id])
  yield rows.map(toWanted).flatMap(({ number, receivedAt, ...to }): Step[] => [
    [sql.confirm, ...valuesOf({ id, secret }, to, now), receivedAt],
    [sql.decided, id, number, now + waitMsOf(policy)],
  ])
  return rows.length
}

/** Greets those who get a row by this request. */
export function stepsToGreet(
  site: Pick<Site, 'id' | 'secret' | 'policy'>,
  signups: readonly Pick<Signup, 'id' | 'email' | 'receivedAt' | 'suspect'>[],
  { greeting }: Pick<AppendTerms, 'greeting'>,
): readonly Step[] {
  const { welcomes, quarantineTab } = site.policy
  if (!greeting || welcomes !== true) return []
  const to = { ...greeting, share: greeting.share && shareHash(site.secret, greeting.share) }
  return signups.flatMap(({ id, email, receivedAt, suspect }) =>
    suspect && quarantineTab !== undefined
      ? []
      : [
          stepToGreet(site, { ...to, email }, receivedAt, id, ranks.welcome),
          stepToReaddress(site, email),
        ],
  )
}

/** Adds a welcome, unless the person has had one, or the signup gets no row. */
export function stepToGreet(
  site: Pick<Site, 'id' | 'secret'>,
  to: Recipient,
  now: Millis,
  signup: SignupId,
  rank: number = ranks.welcomeAtOnce,
): Step {
  return [sql.welcome, ...valuesOf(site, to, now), rank, signup]
}

/** Lets who has left, and is back now, leave again by the link of their welcome, which lost its address. */
export function stepToReaddress({ id, secret }: Pick<Site, 'id' | 'secret'>, email: string): Step {
  return [sql.readdress, id, personOf(addressHash(secret, email)), email]
}

/** For how long a signup waits to be confirmed, also where no new one is asked for. */
export function waitMsOf({ confirmation }: Site['policy']): Millis {
  return confirmation?.waitMs ?? 7 * day
}
