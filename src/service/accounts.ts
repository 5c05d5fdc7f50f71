import type { SiteConfig } from '../config/site.ts'
import type { Account } from '../delivery/account.ts'
import type { Clock } from '../platform/clock.ts'
import { accountOf } from './delivery.ts'
import type { RunningSite } from './running-site.ts'

type Site = Pick<RunningSite, 'config' | 'journal'>

/** The accounts at the provider of all sites. Sites with one account share its quota. */
export class Accounts {
  readonly #sites: readonly Site[]
  readonly #clock: Clock
  readonly #known = new Map<string, Account>()

  constructor(sites: readonly Site[], clock: Clock) {
    this.#sites = sites
    this.#clock = clock
  }

  /** The account of one of the sites; undefined for the local workbook. */
  of({ spreadsheet }: Pick<SiteConfig, 'spreadsheet'>): Account | undefined {
    if (spreadsheet.kind === 'workbook') return undefined
    const { email } = spreadsheet.credentials
    const known = this.#known.get(email)
    if (known) return known
    const sharing = this.#sites.filter(({ config: { spreadsheet: other } }) => {
      return other.kind === 'google' && other.credentials.email === email
    })
    const [first] = sharing
    if (!first) return undefined
    const { journal } = first
    const account = accountOf(spreadsheet, journal, this.#clock, sharing.length)
    this.#known.set(email, account)
    return account
  }
}
