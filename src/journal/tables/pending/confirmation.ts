import { mailboxOf, shortAddress } from '../../../signup/mailbox.ts'
import { overflowKeyOf } from '../../../signup/closing.ts'
import { consentIn } from '../../../signup/metadata.ts'
import { type Millis, tabKey } from '../../../signup/signup.ts'
import { type Confirmation, declinedMs, type LinkState } from '../../contracts/confirmation.ts'
import { addressHash, personOf } from '../../hashes.ts'
import {
  ask,
  headLock,
  messageLock,
  type Operation,
  reading,
  rowReader,
  siteLock,
  statementsOf,
  together,
} from '../../sql.ts'
import { cellColumns, stepsToAppend } from '../append-one.ts'
import { closing, erasedPending, givenNumbers, mailWaitsMs, waitingMails } from './ending.ts'
import { besideState } from '../layout.ts'
import { leave } from './leaving.ts'
import {
  addressesIn,
  endingAll,
  type Linked,
  linkedBy,
  othersMax,
  stepToBlock,
  stepToDropWelcomes,
  stepToFindListed,
} from './links.ts'
import { stepsToEndAsked, stepToGreet } from '../mail/mails.ts'
import { besideListOf, stepToFindBlock, toBlock } from './pending.ts'
import { idOf } from '../rows.ts'
import type { Seats } from '../seats.ts'
import type { Site } from '../site.ts'
import { sweep } from '../sweep.ts'
import { stepToCount } from '../tally.ts'
import type { Tabs } from '../tabs.ts'

const { pending, confirmed } = besideState

const sql = statementsOf('confirmation', () => {
  const ofPerson = 'pending.site = $1 AND pending.person = $2'
  return {
    ofLink: `SELECT number, id, sheet_tab AS "sheetTab", received_at AS "receivedAt",
               ${cellColumns.join(', ')}
             FROM pending
             WHERE ${ofPerson} AND number = $3 AND signals = '' AND state = ${pending} AND expires_at + 0 > $4`,
    others: `SELECT number, sheet_tab AS "sheetTab" FROM pending
             WHERE ${ofPerson} AND number <> $3 AND signals = '' AND state = ${pending} AND expires_at + 0 > $4
             ORDER BY number LIMIT ${othersMax}`,
    newer: `SELECT number, sheet_tab AS "sheetTab" FROM pending
            WHERE ${ofPerson} AND number > $3 AND state = ${pending}
            ORDER BY number LIMIT ${othersMax}`,
    findConfirmed: `SELECT number, sheet_tab AS "sheetTab" FROM pending
                    WHERE ${ofPerson} AND state = ${confirmed}
                    ORDER BY number = $3 DESC, number DESC LIMIT 1`,
    close: closing('site + 0 = $1 AND number = $2'),
    markConfirmed: `UPDATE pending SET state = ${confirmed}, sheet_tab = $2, ${erasedPending}
                    WHERE number = $1`,
    unblock: 'DELETE FROM block WHERE site = $1 AND person IN ($2, $3) RETURNING person',
    // As if it was asked for now.
    askAgain: `UPDATE pending SET mail_wanted = true, expires_at = expires_at + $3
               WHERE ${ofPerson} AND state = ${pending} AND signals = ''
                 AND NOT EXISTS (${waitingMails})`,
  }
})

const toOpen = rowReader({ number: Number, sheetTab: String })

/** A site with the tabs and the seats that its requests know. */
type TabbedSite = Site & { readonly tabs: Tabs; readonly seats: Seats }

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
  const deciding = <T>(message: string, now: Millis, decide: (linked: Linked) => Operation<T>) =>
    change(function* () {
      const linked = yield* linkedBy(id, message)
      if (!linked) return undefined
      const outcome = yield* decide(linked)
      return { outcome, state: yield* stateOf(site, linked, now) }
    })
  return {
    look: (message, now) => reading(db, lookingAt(site, message, now)),
    confirm: async (message, now) => {
      const decided = await deciding(message, now, (linked) => confirming(site, linked, now))
      if (!decided) return undefined
      const { outcome, state } = decided
      if (outcome === 'closed') return { ...state, state: 'closed' }
      if (outcome !== 'nothing') {
        site.appended.tell(1)
        site.seats.learn(outcome.taken)
      }
      return state
    },
    decline: async (message, now) => {
      const decided = await deciding(message, now, (linked) => declining(site, linked, now))
      return decided?.state
    },
    leave: async (message, now) => {
      await leave(site, message, now)
      return reading(db, lookingAt(site, message, now))
    },
    allow: (address) =>
      db.transact([siteLock(id)], function* () {
        const [person, mailbox] = [personAt(address), personAt(mailboxOf(address))]
        const [{ rows }] = yield* ask([sql.unblock, id, person, mailbox])
        if (rows.length > 0) yield* ask([sql.askAgain, id, person, mailWaitsMs])
        return rows.length > 0
      }),
    sweep: (now) => sweep(site, now),
    ofPerson: (address, after) => reading(db, besideListOf(id, personAt(address), after)),
  }
}

function* lookingAt(
  site: TabbedSite,
  message: string,
  now: Millis,
): Operation<LinkState | undefined> {
  const linked = yield* linkedBy(site.id, message)
  return linked && (yield* stateOf(site, linked, now))
}

function* stateOf(site: TabbedSite, linked: Linked, now: Millis): Operation<LinkState> {
  const { kind, person } = linked
  const [own, others, block, confirmed, listed] = yield* ask(
    [sql.ofLink, site.id, person, linked.pending, now],
    [sql.others, site.id, person, linked.pending, now],
    stepToFindBlock(site.id, person),
    [sql.findConfirmed, site.id, person, linked.pending],
    stepToFindListed(site.id, person),
  )
  const [row] = own.rows
  if (row) {
    const { tabs } = site
    const names = [row, ...others.rows].map((one) => toOpen(one).sheetTab)
    const shown = yield* tabs.thereOf(names)
    const key = tabs.called(names[0] ?? '').key
    const isOwn = (name: string) => tabs.called(name).key === key
    return {
      ...{ kind, state: 'pending', consent: consentIn(String(row['metadata'])) },
      address: shortAddress(String(row['email'])),
      rowStays: false,
      tabs: shown.filter(isOwn).slice(0, 1),
      otherTabs: shown.filter((name) => !isOwn(name)),
    }
  }
  const emails = addressesIn(listed)
  const over: Omit<LinkState, 'state'> = {
    ...{ kind, tabs: [], otherTabs: [], consent: undefined, address: undefined, rowStays: false },
  }
  const [blocked] = block.rows.map(toBlock)
  const isBack = blocked?.why === 'left' && emails.length > 0
  if (blocked && !isBack && (blocked.until ?? Infinity) > now) {
    const rowStays = blocked.why === 'left' && linked.hasRow
    return { ...over, state: blocked.why, rowStays }
  }
  if (kind === 'confirm' && !isBack && confirmed.rows.length === 0)
    return { ...over, state: 'over' }
  const email = [linked.email, ...emails].find((it) => it !== '')
  const overflowKey = overflowKeyOf(site.policy.closing)
  const isOverflow = confirmed.rows.some((one) => tabKey(toOpen(one).sheetTab) === overflowKey)
  const address = email && shortAddress(email)
  return { ...over, state: 'confirmed', address, ...(isOverflow && { overflow: true }) }
}

/** What became of a confirmation: how many seats are taken when it was added. */
type Confirming = { readonly taken: number } | 'nothing' | 'closed'

/** Appends what the mail of the link asked for. When all seats are taken, it goes to the overflow tab, or waits on. */
function* confirming(site: TabbedSite, linked: Linked, now: Millis): Operation<Confirming> {
  const { id, policy, tabs, seats } = site
  const { person, recipient, language } = linked
  const [[own, newer], taken] = yield* together(
    ask([sql.ofLink, id, person, linked.pending, now], [sql.newer, id, person, linked.pending]),
    seats.taken(),
  )
  const [row] = own.rows
  if (!row) return 'nothing'
  const openness = seats.opennessAt(taken)
  if (openness === 'closed') return 'closed'
  const { number, sheetTab } = toOpen(row)
  const email = String(row['email'])
  const goesTo = openness === 'open' ? sheetTab : (policy.closing?.overflowTab ?? '')
  const [asked] = yield* tabs.take([{ sheetTab: goesTo }], now, undefined)
  const [tab] = asked ? [asked] : yield* tabs.take([{ sheetTab: '' }], now, undefined)
  if (!tab) return 'nothing'
  const { key } = tabs.named(sheetTab)
  const ofTab = newer.rows.filter((one) => tabs.named(toOpen(one).sheetTab).key === key)
  const greeted = { email, language, share: '' }
  const adding = ask(
    [sql.close, id, number],
    ...stepsToAppend(site, row, tab, now),
    [sql.markConfirmed, number, goesTo],
    ...stepsToEndAsked(site, givenNumbers(ofTab), now),
    [sql.unblock, id, person, recipient],
    stepToCount(id, 'confirmed', now),
    ...(policy.welcomes === true ? [stepToGreet(site, greeted, now, idOf(row['id']))] : []),
  )
  const [, takenNow] = yield* together(adding, seats.taken())
  return { taken: takenNow }
}

function* declining(site: TabbedSite, linked: Linked, now: Millis): Operation<void> {
  const { id } = site
  const { person, recipient } = linked
  if ((yield* stateOf(site, linked, now)).state !== 'pending') return
  yield* endingAll(site, person, now, true)
  yield* ask(
    // Also for other spellings of the mailbox.
    stepToBlock(id, person, 'declined', now, now + declinedMs),
    stepToBlock(id, recipient, 'declined', now, now + declinedMs),
    stepToDropWelcomes(id, person, now),
  )
}
