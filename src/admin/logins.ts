import type { Exchange } from '../http/exchange.ts'
import { RateLimit } from '../http/rate-limit.ts'
import { refuse } from '../http/refuse.ts'
import type { AdminLog } from '../journal/tables/admin-log.ts'
import { type Clock, hour, minute, second } from '../platform/clock.ts'
import { isEqual, sha256 } from '../platform/digest.ts'

const cookieName = 'rollcall_admin'
/** How long a login holds at most, and how long without a request. */
const [wholeMs, idleMs] = [12 * hour, hour]
/** How many tries a minute are answered from one address, and how many in all without a wait. */
const [triesOfAddress, triesOfAll] = [5, 20]
const waitMs = second
/** How many cookies of our name are looked at. */
const secretsMax = 3

export interface LoginsOptions {
  readonly log: AdminLog
  /** ADMIN_TOKEN. */
  readonly token: string
  readonly clock: Pick<Clock, 'elapsed' | 'sleep'>
  /** The wall clock that all instances share. */
  readonly now: () => number
}

/** Somebody who is signed in. */
export interface SignedIn {
  /** Names the login in the log, and opens nothing. */
  readonly id: string
  /** Every form of this login sends it. */
  readonly csrf: string
}

/** Who is signed in to the admin page. The journal has the digests of the secrets, which only cookies have. */
export class Logins {
  readonly #options: LoginsOptions
  readonly #token: string
  readonly #ofAddress: RateLimit
  readonly #ofAll: RateLimit

  constructor(options: LoginsOptions) {
    const { clock, token } = options
    this.#options = options
    this.#token = sha256(token)
    this.#ofAddress = new RateLimit({ policy: 'signIns', perMinute: triesOfAddress, clock })
    this.#ofAll = new RateLimit({ policy: 'signIns', perMinute: triesOfAll, clock })
  }

  /**
   * The cookie of a new login; undefined when the token is wrong.
   *
   * @throws Refusal 429 after too many tries from one address
   */
  async signIn(exchange: Exchange, token: string): Promise<string | undefined> {
    const { log, clock, now } = this.#options
    const allowance = this.#ofAddress.take(addressOf(exchange), 1)
    if (!allowance.isTaken) throw refuse.tooMany(allowance, 1)
    // Nobody is refused because of others, so that nobody can keep the owner out.
    if (!this.#ofAll.take('', 1).isTaken) await clock.sleep(waitMs)
    if (!isEqual(sha256(token), this.#token)) return undefined
    const secret = crypto.randomUUID() + crypto.randomUUID()
    const at = now()
    const login = { digest: sha256(secret), token: this.#token, madeAt: at, seenAt: at }
    await log.signIn(login, at - wholeMs)
    return cookie(exchange, secret, wholeMs)
  }

  /** Undefined when the request has no login that holds. */
  async find(exchange: Exchange): Promise<SignedIn | undefined> {
    for (const secret of secretsIn(exchange)) {
      const signedIn = await this.#findBy(secret, exchange)
      if (signedIn) return signedIn
    }
    return undefined
  }

  async #findBy(secret: string, exchange: Exchange): Promise<SignedIn | undefined> {
    const { log, now } = this.#options
    const known = sha256(secret)
    const login = await log.login(known)
    const at = now()
    if (login?.token !== this.#token) return undefined
    if (at >= login.madeAt + wholeMs || at >= login.seenAt + idleMs) return undefined
    // A page that looks for news by itself keeps no login alive.
    const isByHand = exchange.request.headers.get(byItself) === null
    if (isByHand && at >= login.seenAt + minute) await log.seen(known, at)
    return { id: known.slice(0, 8), csrf: sha256(`csrf ${secret}`) }
  }

  /** Ends the login of a request on all instances. Returns the cookie that takes the place of its own. */
  async signOut(exchange: Exchange): Promise<string> {
    for (const secret of secretsIn(exchange)) await this.#options.log.signOut(sha256(secret))
    return cookie(exchange, '', 0)
  }

  /** Whether a form of this login has sent this. */
  isOwnForm({ csrf }: SignedIn, sent: string): boolean {
    return isEqual(sha256(sent), sha256(csrf))
  }
}

/** The header of requests that browser/admin.ts makes by itself. */
const byItself = 'x-rollcall-live'

/** Where tries come from, private addresses too. */
export function addressOf({ client }: Exchange): string {
  return client.share.client
}

/** A page of another host of the same domain can plant a cookie of our name before the real one. */
function secretsIn({ request }: Exchange): readonly string[] {
  const pairs = (request.headers.get('cookie') ?? '').split(';').map((pair) => pair.trim())
  const own = pairs.filter((pair) => pair.startsWith(`${cookieName}=`))
  return own.slice(0, secretsMax).map((pair) => pair.slice(cookieName.length + 1))
}

/** Forms post below `/admin/`: without a path, the cookie is for all that is there, also behind a path of a proxy. */
function cookie({ ownOrigin, request }: Exchange, secret: string, keepMs: number): string {
  const path = new URL(request.url).pathname === '/admin' ? '; Path=/admin' : ''
  const secure = ownOrigin.startsWith('https:') ? '; Secure' : ''
  return `${cookieName}=${secret}${path}; HttpOnly; SameSite=Strict; Max-Age=${keepMs / second}${secure}`
}
