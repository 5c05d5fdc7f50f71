import type { SiteConfig } from '../config/site.ts'
import type { Account } from '../delivery/account.ts'
import type { Clock } from '../platform/clock.ts'
import { accountOf } from './delivery.ts'
import type { RunningSites } from './running-site.ts'

/** The accounts at the provider of all sites. Sites with one account share its quota. */
export class Accounts {
  readonly #sites: RunningSites
  readonly #clock: Clock
  readonly #known = new Map<string, Account>()

  constructor(sites: RunningSites, clock: Clock) {
    this.#sites = sites
    this.#clock = clock
  }

  /** The account of a site; undefined for the local workbook. */
  of({ spreadsheet }: Pick<SiteConfig, 'spreadsheet'>): Account | undefined {
    if (spreadsheet.kind === 'workbook') return undefined
    const { email } = spreadsheet.credentials
    const known = this.#known.get(email)
    if (known) return known
    const sharing = this.#sites.filter(({ config: { spreadsheet: other } }) => {
      return other.kind === 'google' && other.credentials.email === email
    })
    const { journal } = this.#sites[0]
    const account = accountOf(spreadsheet, journal, this.#clock, sharing.length)
    this.#known.set(email, account)
    return account
  }
}
