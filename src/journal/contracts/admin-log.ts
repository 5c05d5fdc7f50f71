import type { Millis } from '../../signup/signup.ts'

/** The journal's interface for the admin page, for all sites: who is signed in, and what works in the background. */
export interface AdminLog {
  /** Notes a login, and drops those that were made before `over`. */
  signIn(login: Login, over: Millis): Promise<void>

  /** The login with this digest; undefined when there is none. */
  login(digest: string): Promise<Login | undefined>

  /** Notes when a login was used last. */
  seen(digest: string, at: Millis): Promise<void>

  signOut(digest: string): Promise<void>

  /** Notes how a piece of work fares. The last hundred are kept. */
  noteWork(work: Work): Promise<void>

  /** The last hundred pieces of work, the newest first. */
  work(): Promise<readonly Work[]>
}

export interface Login {
  /** Of the secret in the cookie. */
  readonly digest: string
  /** The digest of the token with which it was made. */
  readonly token: string
  readonly madeAt: Millis
  readonly seenAt: Millis
}

/** Something that an operator has begun, and that goes on in slices. It has no personal data. */
export interface Work {
  readonly id: string
  /** What it does, such as `erase`. */
  readonly kind: string
  readonly madeAt: Millis
  /** When it was noted last. Work that is `running` and was not noted for a while has ended with its process. */
  readonly seenAt: Millis
  readonly state: 'running' | 'done' | 'failed'
  /** How many signups are done. */
  readonly done: number
  /** What came of it, in sentences with a line break between them; empty while it runs. */
  readonly report: string
}
