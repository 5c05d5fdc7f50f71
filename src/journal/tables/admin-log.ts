import type { Millis } from '../../signup/signup.ts'
import { type Database, rowReader, statementsOf } from '../sql.ts'

/** For the admin page, of all sites: who is signed in, and what works in the background. */
export type AdminLog = ReturnType<typeof adminLogOf>

/** The digest is of the secret in the cookie, and the token that of the one with which it was made. */
export type Login = ReturnType<typeof toLogin>

/**
 * Something of a `kind` such as `erase` that an operator has begun, and that goes on in slices. It has no
 * personal data. What is `running` and was not noted for a while has ended with its process. What came of it
 * is in `report`, in sentences with a line break between them.
 */
export type Work = ReturnType<typeof toWork>

const workKept = 100

const sql = statementsOf('admin', {
  signIn: 'INSERT INTO login (digest, token, made_at, seen_at) VALUES ($1, $2, $3, $4)',
  dropOld: 'DELETE FROM login WHERE made_at < $1',
  login: `SELECT digest, token, made_at AS "madeAt", seen_at AS "seenAt" FROM login WHERE digest = $1`,
  seen: 'UPDATE login SET seen_at = $2 WHERE digest = $1',
  signOut: 'DELETE FROM login WHERE digest = $1',
  note: `INSERT INTO work (id, kind, made_at, seen_at, state, done, report)
         VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, state = excluded.state,
           done = excluded.done, report = excluded.report`,
  dropWork: `DELETE FROM work WHERE made_at < (
               SELECT min(made_at) FROM (SELECT made_at FROM work ORDER BY made_at DESC LIMIT ${workKept}) AS kept)`,
  work: `SELECT id, kind, made_at AS "madeAt", seen_at AS "seenAt", state, done, report
         FROM work ORDER BY made_at DESC LIMIT ${workKept}`,
})

const toLogin = rowReader({ digest: String, token: String, madeAt: Number, seenAt: Number })
const toWork = rowReader({
  ...{ id: String, kind: String, madeAt: Number, seenAt: Number, done: Number, report: String },
  state: (state) => state as 'running' | 'done' | 'failed',
})

export function adminLogOf(db: Database) {
  return {
    /** Notes a login, and drops those that were made before `over`. */
    signIn: async ({ digest, token, madeAt, seenAt }: Login, over: Millis) => {
      await db.change([], [sql.dropOld, over], [sql.signIn, digest, token, madeAt, seenAt])
    },
    login: async (digest: string): Promise<Login | undefined> => {
      const [{ rows }] = await db.query([sql.login, digest])
      return rows.map(toLogin)[0]
    },
    seen: async (digest: string, at: Millis) => {
      await db.change([], [sql.seen, digest, at])
    },
    signOut: async (digest: string) => {
      await db.change([], [sql.signOut, digest])
    },
    /** Notes how a piece of work fares. The last hundred are kept. */
    noteWork: async ({ id, kind, madeAt, seenAt, state, done, report }: Work) => {
      const note = [sql.note, id, kind, madeAt, seenAt, state, done, report] as const
      await db.change([], note, [sql.dropWork])
    },
    /** The newest first. */
    work: async (): Promise<readonly Work[]> => {
      const [{ rows }] = await db.query([sql.work])
      return rows.map(toWork)
    },
  }
}
