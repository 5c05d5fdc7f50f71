import type { JournalPolicy } from '../contracts/journal.ts'
import type { AddressSlice } from '../contracts/reader.ts'
import { addressHash, personOf } from '../hashes.ts'
import { ask, givenRows, type Operation, statementsOf, type Step } from '../sql.ts'
import { isAt, stepToFindAddress } from './erase.ts'
import { factOf, type ReadSite, setFact } from './facts.ts'
import { findLast, positionIn } from './rows.ts'
import type { Site } from './site.ts'

/*
 * A person is `signup.person`, a keyed hash of the address. A site keeps people as soon as something asks for
 * them, and from then on whatever its settings: so processes with other settings do so, too, and nobody
 * slips through. Elsewhere only what was released from quarantine has its person, for imports, and a person is
 * found by a walk over the addresses.
 */

/** How many positions are read at once, and how many signups get their hash. Each takes a few milliseconds. */
const readAtOnce = 4_000
const filledAtOnce = 500
/** At most how many signups are found at once by the hash of their person. */
const foundAtOnce = 100

/** Name of the fact that tells up to where the site keeps people, and by which secret. */
const peopleFact = 'people'

const sql = statementsOf('people', ({ given, idEnds, ofPerson }) => ({
  tabs: 'SELECT id FROM tab WHERE site = $1',
  ofTab: `SELECT position FROM signup
          WHERE ${ofPerson({ signup: 'signup', person: '$2', tab: 'CAST($1 AS integer)', after: '$3' })}
          ORDER BY person, tab, position LIMIT ${foundAtOnce}`,
  heldOfTab: `SELECT position FROM signup
          WHERE ${ofPerson({ signup: 'signup', person: '$2', tab: 'CAST($1 AS integer)', after: '$3' }, 'held')}
          ORDER BY person, tab, position LIMIT ${foundAtOnce}`,
  ending: `SELECT position FROM signup WHERE position > $2 AND position <= $3 AND ${idEnds('$4')}
           AND (SELECT site FROM tab WHERE tab.id = signup.tab) = $1 ORDER BY position`,
  // With $4, all that have an address or a hash: the hashes are of another secret.
  unfilled: `SELECT position, email FROM signup WHERE position > $2 AND position <= $3
             AND CASE WHEN $4 THEN email <> '' OR person IS NOT NULL
               ELSE person IS NULL AND email <> '' END
             AND (SELECT site FROM tab WHERE tab.id = signup.tab) = $1
             ORDER BY position LIMIT ${filledAtOnce}`,
  fill: `UPDATE signup SET person = filled.person
         FROM ${given('filled', '$1', { position: 'number', person: 'text' })}
         WHERE ${isAt('filled.position')}`,
}))

/** `Site.hashOf` of a site with these settings. */
export function* hashingOf({
  id,
  secret,
  policy,
}: Pick<Site, 'id' | 'secret' | 'policy'>): Operation<Site['hashOf']> {
  const isAsked = asksForPeople(policy) || (yield* factOf(id, peopleFact)) !== undefined
  return (address) => (isAsked ? addressHash(secret, address) : null)
}

function asksForPeople({ duplicates, ...policy }: JournalPolicy): boolean {
  const { welcomes, confirmation, hasAdminPage } = policy
  return duplicates === 'ignore' || welcomes || hasAdminPage || confirmation ? true : false
}

/** How far a site keeps people. */
interface Filled {
  /** Tells the secret of the hashes. */
  readonly by: string
  readonly upto: number
  /** Whether later signups may have hashes of another secret. */
  readonly isAnew: boolean
}

/**
 * Fills the people of the next signups after `from`. Returns after which position there may be more. It needs
 * the lock of the site, and runs before the site takes signups, which would not know their duplicates.
 *
 * Who is known by a hash alone is lost with the secret.
 */
export function* filling(
  { id, secret }: Pick<Site, 'id' | 'secret'>,
  from: number,
): Operation<number | undefined> {
  const noted = yield* factOf(id, peopleFact)
  const by = personOf(addressHash(secret, ''))
  const known = noted === undefined ? undefined : (JSON.parse(noted) as Filled)
  // Without a note, what was released from quarantine has a hash, perhaps of another secret.
  const { upto, isAnew } = known?.by === by ? known : { upto: 0, isAnew: true }
  const after = Math.max(from, upto)
  const last = positionIn((yield* ask(findLast))[0])
  const end = Math.min(last, after + readAtOnce)
  const [{ rows }] = yield* ask([sql.unfilled, id, after, end, isAnew])
  const filled = rows.map(({ position, email }) => {
    const address = String(email)
    const person = address === '' ? null : personOf(addressHash(secret, address))
    return { position: Number(position), person }
  })
  const reached = filled.length === filledAtOnce ? (filled.at(-1)?.position ?? end) : end
  const isDone = reached === last
  const note = JSON.stringify({ by, upto: reached, isAnew: isAnew && !isDone })
  if (filled.length > 0) yield* ask([sql.fill, givenRows(filled)])
  if ((filled.length > 0 || isDone) && note !== noted) yield* ask(setFact(id, peopleFact, note))
  return isDone ? undefined : reached
}

/** A site to find people at. One that is only read has no hashes. */
export type Findable = ReadSite & Partial<Pick<Site, 'hashOf'>>

/** As `Reader.positionsOf`: where people are kept, a hundred at once. */
export function* findPerson(
  { id, hashOf }: Findable,
  address: string,
  after: number,
): Operation<AddressSlice> {
  const person = personOf(hashOf?.(address) ?? null)
  if (person !== null) return yield* findByHash(id, person, after)
  const end = after + readAtOnce
  return yield* sliceOf(stepToFindAddress(id, after, end, address.toLowerCase()), end)
}

/** As `Reader.positionsEnding`. */
export function findEnding(site: number, idEnd: string, after: number): Operation<AddressSlice> {
  const end = after + readAtOnce
  return sliceOf([sql.ending, site, after, end, idEnd.toLowerCase()], end)
}

/** What this step finds in the slice of positions up to `end`. */
function* sliceOf(find: Step, end: number): Operation<AddressSlice> {
  const [head, { rows }] = yield* ask(findLast, find)
  const last = positionIn(head)
  const positions = rows.map(({ position }) => Number(position))
  return { positions, upto: Math.min(end, last), next: end < last ? end : undefined }
}

/** The next hundred signups of a person after this position, where people are kept. */
export function* findByHash(site: number, person: string, after: number): Operation<AddressSlice> {
  const [head, tabs] = yield* ask(findLast, [sql.tabs, site])
  const last = positionIn(head)
  const found = yield [sql.ofTab, sql.heldOfTab].flatMap((ofTab) =>
    tabs.rows.map((tab): Step => [ofTab, Number(tab['id']), person, after]),
  )
  const positions = found
    .flatMap(({ rows }) => rows.map(({ position }) => Number(position)))
    .toSorted((one, other) => one - other)
    .slice(0, foundAtOnce)
  const next = positions.length === foundAtOnce ? positions.at(-1) : undefined
  return { positions, upto: next ?? last, next }
}
