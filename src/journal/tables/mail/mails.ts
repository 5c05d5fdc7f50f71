import { mailboxOf } from '../../../signup/mailbox.ts'
import type { Millis, Signup, SignupId } from '../../../signup/signup.ts'
import type { AppendTerms } from '../../contracts/intake-log.ts'
import { recipientLimits } from '../../contracts/outbox.ts'
import { addressHash, personOf, shareHash } from '../../hashes.ts'
import {
  ask,
  flagOf,
  givenPositions,
  givenRows,
  type Operation,
  rowReader,
  statementsOf,
  type Step,
} from '../../sql.ts'
import { askingMails, endOf, stepsToEnd, waitingMails } from '../pending/ending.ts'
import { isPlaced, messageStage, rowStatus } from '../layout.ts'
import type { Site } from '../site.ts'

const { resting, ready, claimed, sent } = messageStage
const { pauseMs, dayMs, aDayOfSite, aDay } = recipientLimits

/** In which order messages go. A welcome after a confirmation does not wait for the pause of its mailbox. */
export const ranks = { confirm: 0, welcomeAtOnce: 1, welcome: 2, report: 3 } as const

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

/** Whether a mail of the site $1 is not wanted, in SQL: one was declined, or who has left would be greeted. */
export function isBlocked(kind: string, person: string, recipient: string, now: string): string {
  return `EXISTS (SELECT 1 FROM block WHERE block.site = $1 AND block.person IN (${person}, ${recipient})
    AND (block.why = 'declined' OR (block.person = ${person} AND ${kind} = 'welcome'))
    AND (block.until IS NULL OR block.until > ${now}))`
}

/** Of one person and site, at most how many signups are pending. */
const pendingMax = 20
/** At most how many pending signups one transaction decides on. That takes two or three milliseconds. */
export const askedBackAtOnce = 50

const sql = statementsOf('mails', ({ id, given }) => {
  const columns = `number, id, site, kind, rank, turn, person, recipient, email, language, share, body,
    made_at, stage, next_at, pending`
  const last = '(SELECT coalesce(max(number), 0) FROM message)'
  // Fair turns: each message of a share comes a turn after its last one, and none before what was sent last.
  const lastTurn = (share: string) => `(SELECT max(turn) FROM (
      SELECT max(turn) AS turn FROM message WHERE site = $1 AND share = ${share} AND stage < ${claimed}
      UNION ALL SELECT value FROM counter WHERE name = 'turn'
      UNION ALL SELECT 0) AS turns)`
  const stageAt = (wait: string, now: string) =>
    `CASE WHEN ${wait} > ${now} THEN ${resting} ELSE ${ready} END`
  const ofPerson = `pending.site = $1 AND ${isPlaced}`
  const asked = given('given', '$2', {
    ...{ number: 'number', id: 'text', person: 'text', recipient: 'text', language: 'text' },
    ...{ share: 'text', receivedAt: 'number', sheetTab: 'text' },
  })
  return {
    // None while the limits hold, or the mail is on its way that asks for an earlier one of the tab. It has
    // no address: that is the one of the signup, as long as that is pending.
    confirm: `
      INSERT INTO message (${columns})
      SELECT ${last} + row_number() OVER (ORDER BY asked.number), asked.id, $1, 'confirm', ${ranks.confirm},
        ${lastTurn('asked.share')} + row_number() OVER (PARTITION BY asked.share ORDER BY asked.number),
        asked.person, asked.recipient, '', asked.language, asked.share, '', asked."receivedAt",
        ${stageAt('asked.wait', '$3')}, asked.wait, asked.number
      FROM (SELECT given.*, ${waitSql({ recipient: 'given.recipient', paused: 'true' })} AS wait
            FROM ${asked}) AS asked
      WHERE NOT EXISTS (
        SELECT 1 FROM pending WHERE ${ofPerson} AND pending.person = asked.person
          AND pending.number < asked.number AND sheet_tab = asked."sheetTab" AND NOT mail_wanted
          AND signals = '' AND expires_at + 0 > $3
          AND (asked.wait > $3 OR EXISTS (${waitingMails})))`,
    wanted: `SELECT number, person, email, language, share, received_at AS "receivedAt",
               sheet_tab AS "sheetTab", signals <> '' AS "isHeld", (SELECT count(*) FROM (
                 SELECT 1 FROM pending AS other
                 WHERE other.site = $1 AND other.person = pending.person AND other.${isPlaced}
                 LIMIT ${pendingMax + 1}) AS others) > ${pendingMax} AS "isCrowded"
             FROM pending WHERE site = $1 AND mail_wanted ORDER BY number LIMIT ${askedBackAtOnce}`,
    // Those of a person that were decided on.
    decidedOn: `SELECT number, pending.person, EXISTS (${askingMails}
                  AND (stage IN (${claimed}, ${sent}) OR tries > 0)) AS "isMailed"
                FROM ${given('crowded', '$2', { person: 'text' })} CROSS JOIN pending
                WHERE ${ofPerson} AND pending.person = crowded.person AND NOT mail_wanted ORDER BY number`,
    // Nobody has seen them. Dropped ones would be looked through for each later signup of the person.
    dropMails: `DELETE FROM message WHERE number IN (
                  SELECT message.number
                  FROM ${given('ended', '$2', { position: 'number' })}
                  JOIN pending ON pending.number = ended.position CROSS JOIN message
                  WHERE message.site = $1 AND message.person = pending.person AND message.kind = 'confirm'
                    AND message.pending = pending.number AND stage < ${claimed} AND tries = 0)`,
    // The end counts from the sending where a mail goes.
    decided: `UPDATE pending SET mail_wanted = false, expires_at = CASE
                WHEN EXISTS (${askingMails}) THEN expires_at ELSE $3 END
              WHERE site + 0 = $1
                AND number IN (SELECT position FROM ${given('wanted', '$2', { position: 'number' })})`,
    welcome: `
      INSERT INTO message (${columns}, greets)
      SELECT ${last} + 1, $2, $1, 'welcome', CAST($9 AS integer), ${lastTurn('$7')} + 1, $3, $4, $5, $6, $7,
        '', $8, ${stageAt('wait.at', '$8')}, wait.at, 0, ${id('$10')}
      FROM ${waitSql({ recipient: '$4', paused: `$9 > ${ranks.welcomeAtOnce}` })} AS wait
      WHERE NOT ${isBlocked("'welcome'", '$3', '$4', '$8')} AND NOT EXISTS (SELECT 1 FROM message AS earlier
          WHERE earlier.site = $1 AND earlier.person = $3 AND earlier.kind = 'welcome')
        AND EXISTS (SELECT 1 FROM signup WHERE id = ${id('$10')} AND row_status = ${rowStatus.wanted})`,
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

/** A new message to them, without its address. */
function messageTo({ secret }: Pick<Site, 'secret'>, to: Recipient, now: Millis) {
  const { email, language, share, person = personOf(addressHash(secret, email)) } = to
  const mailbox = mailboxOf(email)
  const isOwn = mailbox === email.toLowerCase()
  const recipient = isOwn ? person : personOf(addressHash(secret, mailbox))
  return { id: newMessageId(now), person, recipient, language, share }
}

/** 22 characters of base64url: the time, so that indexes grow at their end, and 80 random bits. */
function newMessageId(now: Millis): string {
  const bytes = Buffer.from(crypto.getRandomValues(new Uint8Array(16)))
  bytes.writeUIntBE(now, 0, 6)
  return bytes.toString('base64url')
}

const toWanted = rowReader({
  ...{ number: Number, person: String, email: String, language: String, share: String },
  ...{ receivedAt: Number, sheetTab: String, isHeld: flagOf, isCrowded: flagOf },
})
type Wanted = ReturnType<typeof toWanted>

const toDecided = rowReader({ number: Number, person: String, isMailed: flagOf })

/**
 * Makes the mails that the oldest pending signups want, also for who wants none: nobody learns of that, as
 * such a mail waits like others, and is dropped when its turn comes. A held one gets none. Returns how many it
 * has decided on.
 */
export function* askingBack(site: Site, now: Millis): Operation<number> {
  const { id, policy } = site
  const [{ rows }] = yield* ask([sql.wanted, id])
  const all = rows.map(toWanted)
  const ended = yield* crowdedOut(id, all)
  const wanted = all.filter(({ number }) => !ended.includes(number))
  const asking = wanted.filter(({ isHeld }) => !isHeld)
  // A mail asks for the first one of a tab.
  const firsts = asking.filter(
    (one, at) =>
      asking.findIndex((it) => it.person === one.person && it.sheetTab === one.sheetTab) === at,
  )
  const mails = firsts.map(({ number, receivedAt, sheetTab, ...to }) => {
    return { number, receivedAt, sheetTab, ...messageTo(site, to, now) }
  })
  yield [
    ...(ended.length > 0 ? stepsToEndAsked(site, givenPositions(ended), now) : []),
    [sql.confirm, id, givenRows(mails), now],
    [sql.decided, id, givenPositions(wanted.map(({ number }) => number)), endOf(policy, now)],
  ]
  return rows.length
}

/** The numbers of those that end so that nobody has too many: the newest ones for which no mail was sent. */
function* crowdedOut(site: number, wanted: readonly Wanted[]): Operation<readonly number[]> {
  const crowded = Map.groupBy(wanted, ({ person, isCrowded }) => (isCrowded ? person : ''))
  crowded.delete('')
  if (crowded.size === 0) return []
  const persons = givenRows(Array.from(crowded.keys(), (person) => ({ person })))
  const [{ rows }] = yield* ask([sql.decidedOn, site, persons])
  const decided = Map.groupBy(rows.map(toDecided), ({ person }) => person)
  const endedOf = (asked: readonly Wanted[], person: string) => {
    const staying = [...(decided.get(person) ?? [])]
    return asked.flatMap(({ number }) => {
      staying.push({ number, person, isMailed: false })
      if (staying.length <= pendingMax) return []
      const before = staying.slice(0, -1).findLastIndex(({ isMailed }) => !isMailed)
      return staying.splice(before, 1).map((last) => last.number)
    })
  }
  return Array.from(crowded, ([person, asked]) => endedOf(asked, person)).flat()
}

/** Ends pending signups with these numbers, and the mails that would ask for them. */
export function stepsToEndAsked(site: Site, numbers: string, now: Millis): readonly Step[] {
  return [[sql.dropMails, site.id, numbers], ...stepsToEnd(site, numbers, now)]
}

/** Greets those who get a row by this request. */
export function stepsToGreet(
  site: Pick<Site, 'id' | 'secret' | 'policy'>,
  signups: readonly Pick<Signup, 'id' | 'email' | 'receivedAt'>[],
  { greeting }: Pick<AppendTerms, 'greeting'>,
): readonly Step[] {
  if (!greeting || site.policy.welcomes !== true) return []
  const to = { ...greeting, share: greeting.share && shareHash(site.secret, greeting.share) }
  return signups.map(({ id, email, receivedAt }) =>
    stepToGreet(site, { ...to, email }, receivedAt, id, ranks.welcome),
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
  const { id, person, recipient, language, share } = messageTo(site, to, now)
  return [sql.welcome, site.id, id, person, recipient, to.email, language, share, now, rank, signup]
}
