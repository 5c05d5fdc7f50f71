import { mailboxOf } from '../../signup/mailbox.ts'
import type { Millis } from '../../signup/signup.ts'
import {
  type Confirmation,
  declinedMs,
  type LinkState,
  regretMs,
  returnMs,
} from '../contracts/confirmation.ts'
import { hourOf } from '../contracts/reader.ts'
import { addressHash, personOf } from '../hashes.ts'
import {
  ask,
  givenRows,
  headLock,
  messageLock,
  numberOf,
  type Operation,
  reading,
  type Row,
  rowReader,
  siteLock,
  statementsOf,
  type Step,
  textOf,
} from '../sql.ts'
import { cellColumns, stepsToAppend } from './append-one.ts'
import { eraseForgotten } from './erase.ts'
import { stepsToBury } from './erasure.ts'
import { allHours, besideState, messageStage } from './layout.ts'
import { stepToGreet, stepToReaddress, waitMsOf } from './mails.ts'
import {
  besideListOf,
  closing,
  erasedPending,
  stepToFindBlock,
  sweeping,
  toBlock,
} from './pending.ts'
import { idOf } from './rows.ts'
import type { Site } from './site.ts'
import { isHeldKey, type Tabs } from './tabs.ts'

const { pending, declined, left, confirmed, over } = besideState
const { sent, dropped } = messageStage

/** At most how many tabs one link confirms signups of, and how many rows one transaction takes off the list. */
const tabsMax = 100
const leftAtOnce = 100
/** How many wordings a page shows. */
const consentsMax = 20

const sql = statementsOf('confirmation', ({ given, id, lower, signupAt }) => {
  const ofPerson = 'pending.site = $1 AND pending.person = $2'
  const open = `${ofPerson} AND signals = '' AND (
    state = ${pending} AND (expires_at IS NULL OR expires_at > $3)
    OR state IN (${declined}, ${left}) AND kept_until > $3)`
  return {
    message: `SELECT kind, person, recipient, email, language FROM message
              WHERE id = $2 AND site = $1 AND kind IN ('confirm', 'welcome') AND person <> ''`,
    // The newest one of each spelling of a tab. Of those who left, all come back.
    open: `SELECT number, id, sheet_tab AS "sheetTab", state, kept_until AS "keptUntil",
             -- The removal of the row of who left must not find the one that comes back.
             received_at + CASE state WHEN ${left} THEN 1 ELSE 0 END AS "receivedAt",
             ${cellColumns.join(', ')}
           FROM pending WHERE number IN (
             SELECT max(number) FROM pending WHERE ${open}
             GROUP BY sheet_tab, state, CASE WHEN state = ${left} THEN number END
             ORDER BY max(number) DESC LIMIT ${tabsMax})
           ORDER BY number DESC`,
    done: `SELECT DISTINCT tab.name FROM pending
           JOIN signup ON signup.id = pending.id JOIN tab ON tab.id = signup.tab
           WHERE ${ofPerson} AND state = ${confirmed} LIMIT 100`,
    countConfirmed: `INSERT INTO hour_pending AS known (site, hour, confirmed)
                     SELECT $1, hour, $3 FROM ${given('given', '$2', { hour: 'integer' })} WHERE true
                     ON CONFLICT (site, hour) DO UPDATE SET confirmed = known.confirmed + excluded.confirmed`,
    close: closing(`person = $2 AND signals = ''`),
    markConfirmed: `UPDATE pending SET state = ${confirmed}, ${erasedPending} WHERE number = $1`,
    closeOthers: `UPDATE pending SET state = ${over}, expires_at = $3, ${erasedPending}
                  WHERE ${ofPerson} AND state IN (${pending}, ${declined}, ${left}) AND signals = ''
                    AND ($4 OR state <> ${pending})`,
    unblock: 'DELETE FROM block WHERE site = $1 AND person IN ($2, $3) RETURNING person',
    askAgain: `UPDATE pending SET mail_wanted = true, expires_at = NULL, kept_until = NULL
               WHERE ${ofPerson} AND state = ${pending} AND signals = ''`,
    // Mails that wait have nothing to ask; or nothing to greet either, as $4 says.
    dropMails: `UPDATE message SET stage = ${dropped}, email = '', ended_at = $3
                WHERE site = $1 AND person = $2 AND stage < ${sent} AND kind IN ('confirm', $4)`,
    decline: `UPDATE pending SET state = ${declined}, mail_wanted = false, kept_until = $3,
                expires_at = coalesce(expires_at, $4)
              WHERE ${ofPerson} AND state = ${pending} AND signals = ''`,
    blockNow: `INSERT INTO block (site, person, why, at, until) VALUES ($1, $2, $3, $4, $5)
               ON CONFLICT (site, person) DO UPDATE
               SET why = excluded.why, at = excluded.at, until = excluded.until
               WHERE block.until IS NOT NULL`,
    addressed: `SELECT signup.position FROM signup JOIN tab ON tab.id = signup.tab
                WHERE ${lower('signup.email')} = ${lower('$2')} AND tab.site = $1
                  AND NOT ${isHeldKey('tab.key')} AND signup.position + 0 > $4
                  AND signup.position + 0 > coalesce((
                    SELECT upto FROM tombstone WHERE site = $1 AND hash = $3), 0)
                ORDER BY signup.position + 0 LIMIT ${leftAtOnce}`,
    keepLeft: `
      INSERT INTO pending (number, id, site, person, state, expires_at, kept_until, signals, mail_wanted,
        share, language, sheet_tab, received_at, ${cellColumns.join(', ')})
      SELECT (SELECT coalesce(max(number), 0) FROM pending) + given.no, ${id('given.id')}, $1, $3, ${left},
        $4, $4, '', false, '', '', tab.name, received_at,
        ${cellColumns.map((column) => `signup.${column}`).join(', ')}
      FROM ${given('given', '$2', { no: 'integer', id: 'text', position: 'number' })}
      ${signupAt('given.position')} JOIN tab ON tab.id = signup.tab`,
  }
})

/** A message with a link, and its person. */
const toLinked = rowReader({
  kind: (kind) => kind as LinkState['kind'],
  ...{ person: String, recipient: String, email: String, language: String },
})
type Linked = ReturnType<typeof toLinked>

const readOpen = rowReader({
  ...{ number: Number, id: idOf, sheetTab: String, state: Number, keptUntil: numberOf },
  ...{ metadata: String, email: String },
})
const toOpen = (row: Row) => ({ ...readOpen(row), row })
type Open = ReturnType<typeof toOpen>

/** A site with the tabs that its requests know. */
type TabbedSite = Site & { readonly tabs: Tabs }

/** What people decide by links, with the tabs of the site. */
export function confirmationOf(site: TabbedSite): Confirmation {
  const { db, id, secret, policy } = site
  const greets = policy.welcomes === true ? [messageLock] : []
  const change = async <T>(operation: () => Operation<T>): Promise<T> => {
    try {
      return await db.transact([headLock, siteLock(id), ...greets], operation)
    } catch (error) {
      site.tabs.forget()
      throw error
    }
  }
  const personAt = (address: string) => personOf(addressHash(secret, address))
  const deciding = (message: string, now: Millis, decide: (linked: Linked) => Operation<unknown>) =>
    change(function* () {
      const linked = yield* linkedBy(id, message)
      if (!linked) return undefined
      yield* decide(linked)
      return yield* stateOf(id, linked, now)
    })
  return {
    look: (message, now) => reading(db, lookingAt(id, message, now)),
    confirm: async (message, now) => {
      let added = 0
      const state = await deciding(message, now, function* (linked) {
        added = yield* confirming(site, linked, now)
      })
      if (added > 0) site.appended.tell(added)
      return state
    },
    decline: (message, now) => deciding(message, now, (linked) => declining(site, linked, now)),
    leave: async (message, now) => {
      for (let after: number | undefined = 0; after !== undefined;) {
        const last: number = after
        after = await change(function* () {
          const linked = yield* linkedBy(id, message)
          return linked?.kind === 'welcome' ? yield* leaving(site, linked, now, last) : undefined
        })
        // An engine may answer without a turn of the event loop.
        if (after !== undefined) await new Promise((resolve) => setImmediate(resolve))
      }
      return reading(db, lookingAt(id, message, now))
    },
    allow: (address) =>
      db.transact([siteLock(id)], function* () {
        const [person, mailbox] = [personAt(address), personAt(mailboxOf(address))]
        const [{ rows }] = yield* ask([sql.unblock, id, person, mailbox])
        if (rows.length > 0) yield* ask([sql.askAgain, id, person])
        return rows.length > 0
      }),
    sweep: (now) => db.transact([siteLock(id)], () => sweeping(site, now)),
    ofPerson: (address) => reading(db, besideListOf(id, personAt(address))),
  }
}

function* linkedBy(site: number, message: string): Operation<Linked | undefined> {
  const [{ rows }] = yield* ask([sql.message, site, message])
  return rows.map(toLinked)[0]
}

function* lookingAt(site: number, message: string, now: Millis): Operation<LinkState | undefined> {
  const linked = yield* linkedBy(site, message)
  return linked && (yield* stateOf(site, linked, now))
}

function* stateOf(site: number, { kind, person }: Linked, now: Millis): Operation<LinkState> {
  const [{ rows }, block, done] = yield* ask(
    [sql.open, site, person, now],
    stepToFindBlock(site, person),
    [sql.done, site, person],
  )
  const open = rows.map(toOpen)
  const isIn = (state: number) => (one: Open) => one.state === state
  const waiting = open.filter(isIn(pending))
  if (kind === 'confirm' && waiting.length > 0) return shown(kind, 'pending', waiting)
  const [blocked] = block.rows.map(toBlock)
  if (blocked && (blocked.until ?? Infinity) > now) {
    const returning = open.filter(isIn(besideState[blocked.why]))
    return { ...shown(kind, blocked.why, returning), returnableUntil: returning[0]?.keptUntil }
  }
  const tabs = done.rows.map(({ name }) => String(name))
  const state = kind === 'welcome' || tabs.length > 0 ? 'confirmed' : 'over'
  return { kind, state, tabs, consents: [] }
}

function shown(
  kind: LinkState['kind'],
  state: LinkState['state'],
  open: readonly Open[],
): LinkState {
  const consents = open.toReversed().flatMap(({ metadata }) => consentIn(metadata) ?? [])
  const tabs = open.map(({ sheetTab }) => sheetTab)
  return {
    kind,
    state,
    tabs: [...new Set(tabs)],
    consents: [...new Set(consents)].slice(0, consentsMax),
  }
}

/** The wording that a visitor of our forms agreed to. */
function consentIn(metadata: string): string | undefined {
  if (metadata === '') return undefined
  return textOf((JSON.parse(metadata) as Readonly<Record<string, unknown>>)['consent'])
}

/** Returns how many signups it has added to the list. */
function* confirming(
  site: TabbedSite,
  { kind, person, recipient, language }: Linked,
  now: Millis,
): Operation<number> {
  const { id, policy, tabs } = site
  const [open] = yield* ask([sql.open, id, person, now])
  const isAsked = kind === 'confirm'
  const chosen = chosenOf(kind, open.rows.map(toOpen), tabs)
  const [first] = chosen
  if (!first) return 0
  const { email } = first
  const taken = yield* tabs.take(chosen, now, undefined)
  const [fallback] = taken.includes(undefined)
    ? yield* tabs.take([{ sheetTab: '' }], now, undefined)
    : []
  if (isAsked) yield* ask([sql.close, id, person])
  yield chosen.flatMap(({ number, row }, index): readonly Step[] => {
    const tab = taken[index] ?? fallback
    return tab ? [...stepsToAppend(site, row, tab.id, now), [sql.markConfirmed, number]] : []
  })
  const hours = givenRows([{ hour: hourOf(now) }, { hour: allHours }])
  yield* ask(
    [sql.closeOthers, id, person, now, isAsked],
    ...site.noteErased(),
    [sql.unblock, id, person, recipient],
    [sql.dropMails, id, person, now, 'confirm'],
    stepToReaddress(site, email),
    [sql.countConfirmed, id, hours, chosen.length],
  )
  if (policy.welcomes === true) {
    const to = { email, language, share: '' }
    yield chosen.map((one) => stepToGreet(site, to, now, one.id))
  }
  return chosen.length
}

/**
 * What the link confirms, the oldest first: what is pending of a link that asks, the newest of each tab; or
 * else all that the person has turned down or left.
 */
function chosenOf(kind: Linked['kind'], open: readonly Open[], tabs: Tabs): readonly Open[] {
  const waiting = open.filter(({ state }) => kind === 'confirm' && state === pending)
  const chosen = waiting.length > 0 ? waiting : open.filter(({ state }) => state !== pending)
  const keys = new Set<string>()
  return chosen
    .filter(({ state, sheetTab }) => {
      const { key } = tabs.called(sheetTab)
      const isNewest = state === left || !keys.has(key)
      keys.add(key)
      return isNewest
    })
    .toReversed()
}

function* declining({ id, policy }: Site, linked: Linked, now: Millis): Operation<void> {
  const { person, recipient } = linked
  if ((yield* stateOf(id, linked, now)).state !== 'pending') return
  yield* ask(
    [sql.close, id, person],
    [sql.decline, id, person, now + regretMs, now + waitMsOf(policy)],
    // Also for other spellings of the mailbox.
    [sql.blockNow, id, person, 'declined', now, now + declinedMs],
    [sql.blockNow, id, recipient, 'declined', now, now + declinedMs],
    [sql.dropMails, id, person, now, 'welcome'],
  )
}

/**
 * Takes rows after this position off the list. Those of a batch on its way keep their cells until it has ended,
 * so that they would be found again. Returns after which position there may be more.
 */
function* leaving(
  site: Site,
  linked: Linked,
  now: Millis,
  after: number,
): Operation<number | undefined> {
  const { id, secret } = site
  const { person, email } = linked
  const hash = addressHash(secret, email)
  const found = email === '' ? [] : (yield* ask([sql.addressed, id, email, hash, after]))[0].rows
  const positions = found.map(({ position }) => Number(position))
  const copies = positions.map((position, index) => {
    return { no: index + 1, position, id: crypto.randomUUID() }
  })
  yield* ask([sql.keepLeft, id, givenRows(copies), person, now + returnMs])
  yield* eraseForgotten(site, positions)
  if (found.length === leftAtOnce) return positions.at(-1)
  yield* ask(
    ...(email === '' ? [] : stepsToBury(id, hash)),
    [sql.blockNow, id, person, 'left', now, null],
    [sql.dropMails, id, person, now, 'welcome'],
  )
  return undefined
}
