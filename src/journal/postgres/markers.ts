import type { Marked } from '../../signup/batch.ts'
import type { EndedMarker, RunningTime, RunningTimeNote } from '../contracts/delivery-log.ts'
import { replacedCodesFact } from '../contracts/delivery-log.ts'
import { codesOf, isOfCodes } from '../site-code.ts'
import { factOf } from './facts.ts'
import { siteLock } from './locks.ts'
import type { PostgresSite } from './site.ts'
import { statementsOf } from './statement.ts'

const sql = statementsOf('markers', {
  ended: `SELECT id, is_found AS "isFound", ripe_at AS "ripeAt" FROM rollcall.marker
          WHERE site = $1 AND is_ended ORDER BY batch`,
  count: 'SELECT count(*) AS count FROM rollcall.marker WHERE site = $1',
  known: 'SELECT id FROM rollcall.marker WHERE site = $1 AND id = ANY($2::bigint[])',
  // A batch of this journal has a positive number.
  adopt: `INSERT INTO rollcall.marker (site, id, batch, is_found, is_ended)
          SELECT $1, id, -id, true, true FROM unnest($2::bigint[]) AS stray (id)
          ON CONFLICT (site, id) DO NOTHING`,
  forget: 'DELETE FROM rollcall.marker WHERE site = $1 AND id = ANY($2::bigint[])',
  runningTime: 'SELECT running_ms AS ms, running_by AS by FROM rollcall.site WHERE id = $1',
  setRunningTime: 'UPDATE rollcall.site SET running_ms = $2, running_by = $3 WHERE id = $1',
  ripen: `UPDATE rollcall.marker SET ripe_at = $2::bigint + noted.life
          FROM unnest($3::bigint[], $4::bigint[]) AS noted (id, life)
          WHERE site = $1 AND marker.id = noted.id AND is_ended AND ripe_at IS NULL`,
})

/** The markers of one site's ended batches, and the running time by which they are pruned. */
export class PostgresMarkers {
  readonly #site: PostgresSite

  constructor(site: PostgresSite) {
    this.#site = site
  }

  async ended(): Promise<readonly EndedMarker[]> {
    const rows = await this.#site.db.all(sql.ended, this.#site.id)
    return rows.map(({ id, isFound, ripeAt }) => ({
      id: Number(id),
      isFound: isFound === true,
      ripeAt: ripeAt === null ? undefined : Number(ripeAt),
    }))
  }

  async count(): Promise<number> {
    return Number((await this.#site.db.get(sql.count, this.#site.id))?.['count'])
  }

  async isOwn(fingerprint: string): Promise<boolean> {
    return isOfCodes(await this.#codes(), fingerprint)
  }

  async adopt(standing: readonly Marked[]): Promise<void> {
    const { db, id: site } = this.#site
    const codes = await this.#codes()
    const own = standing.filter(({ fingerprint }) => isOfCodes(codes, fingerprint))
    const markers = own.map(({ marker }) => marker)
    const known = await db.all(sql.known, site, markers)
    if (known.length === new Set(markers).size) return
    await db.inOneGo(siteLock(site), [[sql.adopt, site, markers]])
  }

  async forget(markers: readonly number[]): Promise<void> {
    const { db, id: site } = this.#site
    await db.inOneGo(siteLock(site), [[sql.forget, site, markers]])
  }

  noteRunningTime({ by, ms, seen, lives }: RunningTimeNote): Promise<RunningTime> {
    const { db, id: site } = this.#site
    return db.transaction(siteLock(site), async (transaction) => {
      const row = await transaction.get(sql.runningTime, site)
      const last = { ms: Number(row?.['ms']), by: String(row?.['by']) }
      const isAsSeen = seen?.by === last.by && seen.ms === last.ms
      if (seen && !isAsSeen && lives.size === 0) return last
      const next = { ms: last.ms + (isAsSeen && last.by === by ? ms : 0), by }
      await Promise.all([
        transaction.run(sql.setRunningTime, site, next.ms, by),
        transaction.run(sql.ripen, site, next.ms, [...lives.keys()], [...lives.values()]),
      ])
      return next
    })
  }

  /** The code of the site, and those of the journals that this one has replaced. */
  async #codes(): Promise<readonly string[]> {
    const { db, id, code } = this.#site
    return codesOf(code, await factOf(db, id, replacedCodesFact))
  }
}
