import { personLength } from '../hashes.ts'
import { statementsOf } from '../sql.ts'
import { statusOfNew } from '../tables/append-one.ts'
import { rowStatus } from '../tables/layout.ts'
import { seatsTaken } from '../tables/seats.ts'
import { addingPlaced, listNames, listTypes } from './new-signups.ts'

/**
 * Adds a group of requests. Its lists are: tabs by number, requests by number, and signups in order. A
 * request is left out when its key is known or its token is used, and a signup when its tab is not there.
 * The group has no key and no token twice.
 *
 * The statement comes behind the lock of the head, so it sees all that was committed before. LATERAL with
 * LIMIT looks each key up by itself: a plan from when a table was small must not read all of a large one.
 *
 * @param of SQL: its `row_status`, whether one of `added` is seatless, and of a site with seats whether one of `asked`
 *   takes one
 */
function appendSql(of: { status: string; isSeatless?: string; takesSeat?: string }): string {
  const { status, isSeatless, takesSeat = '' } = of
  const asked = (tab: string) => `SELECT given.*, tabs.id AS ${tab}
      FROM unnest($6::integer[], $7::integer[], $8::boolean[], $9::integer[], ${listTypes(10)})
        WITH ORDINALITY AS given (request, tab_no, is_held, place, ${listNames}, no)
      LEFT JOIN tabs ON tabs.no = given.tab_no
      WHERE given.request NOT IN (SELECT no FROM known)
        AND given.request NOT IN (SELECT no FROM used)`
  return `
    WITH request AS (
      SELECT * FROM unnest($3::text[], $4::text[], $5::text[]) WITH ORDINALITY
        AS given (key, fingerprint, token, no)
    ), known AS (
      SELECT no, kept.fingerprint, first_position AS first, last_position AS last, refused
      FROM request CROSS JOIN LATERAL (
        SELECT * FROM rollcall.idempotency_key WHERE site = $1 AND key = request.key LIMIT 1
      ) AS kept
    ), used AS (
      SELECT no FROM request
      WHERE EXISTS (SELECT 1 FROM rollcall.used_token WHERE digest = token LIMIT 1)
    ), tabs AS (
      SELECT no, tab.id, tab.key, tab.name
      FROM unnest($2::text[]) WITH ORDINALITY AS wanted (key, no)
      CROSS JOIN LATERAL (
        SELECT * FROM rollcall.tab WHERE site = $1 AND tab.key = wanted.key LIMIT 1
      ) AS tab
    ), item AS (
      ${takesSeat ? seating(asked('own_tab'), takesSeat) : asked('tab')}
    ), placed AS (
      SELECT item.*, head.position + row_number() OVER (ORDER BY no) AS position
      FROM item, rollcall.head WHERE item.tab IS NOT NULL
    ), ${addingPlaced(status, isSeatless)}, taken AS (
      SELECT request, min(position) AS first, max(position) AS last, min(received_at) AS at
      FROM placed GROUP BY request
    ), kept AS (
      INSERT INTO rollcall.idempotency_key
        (site, key, fingerprint, first_position, last_position, refused, stored_at)
      SELECT $1, key, fingerprint, first, last, coalesce((
          SELECT '[' || string_agg(place::text, ',' ORDER BY place) || ']'
          FROM item WHERE item.request = request.no AND tab IS NULL${takesSeat && ' AND is_open'}
        ), ''), at
      FROM request JOIN taken ON taken.request = request.no WHERE key IS NOT NULL
    ), burned AS (
      INSERT INTO rollcall.used_token (digest, stored_at)
      SELECT token, at FROM request JOIN taken ON taken.request = request.no
      WHERE token IS NOT NULL
    )
    SELECT (SELECT position FROM rollcall.head) AS position,
      (SELECT json_agg(known) FROM known) AS known,
      (SELECT json_agg(no) FROM used) AS used,
      (SELECT json_agg(tabs) FROM tabs) AS tabs,
      (SELECT json_agg(position) FROM added WHERE row_status = ${rowStatus.none}) AS ignored${takesSeat && told}`
}

/**
 * What is asked for, with its tab: its own one while a seat of $19 is left, or else the overflow tab $20. No seat is
 * given back, so all behind the first one without a seat have none.
 */
function seating(asked: string, takesSeat: string): string {
  return `SELECT *, CASE WHEN is_open THEN own_tab ELSE ${overflowTab} END AS tab FROM (
        SELECT *, ${seatsTaken('$1')} + sum(takes) OVER (ORDER BY no) - takes < $19::bigint AS is_open
        FROM (
          SELECT *, (own_tab IS NOT NULL AND own_tab IS DISTINCT FROM ${overflowTab} AND NOT is_held
            AND ${takesSeat})::integer AS takes FROM (${asked}) AS asked
        ) AS claim
      ) AS counted`
}

/** What is told of seats: the first item without one, and how many are taken. */
const told = `,
      (SELECT min(no) FROM item WHERE NOT is_open) AS "fullFrom",
      (SELECT ${seatsTaken('$1')} + coalesce(sum(takes) FILTER (WHERE is_open), 0) FROM item) AS taken`

const overflowTab = '(SELECT tabs.id FROM tabs WHERE tabs.key = $20::text)'

export const appendStatements = statementsOf('postgres appends', (dialect) => {
  const { wanted, none, held } = rowStatus
  const unlessHeld = (status: string) => `CASE WHEN is_held THEN ${held} ELSE ${status} END`
  /** Once for a person in the tab, or in any of the site: unless there earlier, or earlier in this group. */
  const once = (of: string, order: string, tab?: string) => {
    const person = `left(${of}.hash, ${personLength})`
    const among = `${tab === undefined ? '' : `${tab}, `}hash, is_held`
    return `CASE WHEN row_number() OVER (PARTITION BY ${among} ORDER BY ${order}) > 1 THEN ${none}
      ELSE ${statusOfNew(dialect, { person, tab, hash: `${of}.hash`, site: '$1' })} END`
  }
  const inTab = once('placed', 'position', 'placed.tab')
  const inSite = once('placed', 'position')
  const isIgnored = `row_status = ${none}`
  const isBeyond = `row_status = ${wanted} AND tab = ${overflowTab}`
  return {
    append: appendSql({ status: unlessHeld(String(wanted)) }),
    appendOnce: appendSql({ status: unlessHeld(inTab), isSeatless: isIgnored }),
    appendSeats: appendSql({
      ...{ status: unlessHeld(String(wanted)), isSeatless: isBeyond, takesSeat: 'true' },
    }),
    appendSeatsOnce: appendSql({
      status: unlessHeld(`CASE WHEN tab = ${overflowTab} THEN ${inSite} ELSE ${inTab} END`),
      isSeatless: `${isIgnored} OR ${isBeyond}`,
      takesSeat: `${once('asked', 'no', 'asked.own_tab')} = ${wanted}`,
    }),
  }
})
