import type { Clock } from '../platform/clock.ts'
import { collectedLength } from '../signup/field-control.ts'
import type { Field } from '../signup/field.ts'
import { HourlyCount } from './hourly-count.ts'
import { hasAddress, hasLink } from './links.ts'
import type { ParsedSignup } from '../signup/parse.ts'
import type { Stamps } from '../challenge/stamps.ts'
import { suggestEmail } from '../signup/suggest-email.ts'
import { type Signal, signalPoints, suspectPoints } from '../signup/suspicion.ts'

/** Networks, and names, that there is room for, of all sites together: 4 MB in all. */
const keysMax = 16_384
const signupsOfNetwork = 20
const clientsOfName = 5

interface Domains {
  has(domain: string): boolean
}

/** Those of a list that nobody gets by mistyping another one, as `gmial.com`: who does is a person. */
export function withoutTypos(list: Domains): Domains {
  return { has: (domain) => list.has(domain) && suggestEmail(`x@${domain}`) === undefined }
}

/** What all sites of a process count together. Nothing of it is stored. */
export class SpamCounts {
  readonly networks = new HourlyCount(signupsOfNetwork, keysMax)
  readonly names = new HourlyCount(clientsOfName, keysMax)
}

export interface SpamFilterOptions {
  /** The name of the site. Its signups are counted apart from those of others. */
  readonly site: string
  /** Whether the rows of suspect signups go to the tab for them. */
  readonly quarantines: boolean
  /** Domains of throw-away addresses, in lower case. Their subdomains count as well. */
  readonly domains: readonly Domains[]
  readonly fields: readonly Field[]
  readonly stamps: Pick<Stamps, 'isGood'>
  readonly counts: SpamCounts
  readonly clock: Pick<Clock, 'elapsed'>
}

/** What the filter looks at. */
export type Looked = Pick<ParsedSignup, 'email' | 'name' | 'tags' | 'fields' | 'message' | 'stamp'>

/** Finds the signups of a site that look like spam. It asks nobody, and refuses nothing. */
export class SpamFilter {
  readonly quarantines: boolean
  readonly #options: SpamFilterOptions
  /** The fields for short texts that visitors type. A link that a form fills in by itself says nothing. */
  readonly #textFields: readonly string[]

  constructor(options: SpamFilterOptions) {
    this.#options = options
    this.quarantines = options.quarantines
    this.#textFields = options.fields.flatMap((field) =>
      field.type === 'text' && collectedLength(field) === undefined ? [field.name] : [],
    )
  }

  /**
   * Counts a signup, and returns its signs of spam if it is suspect.
   *
   * @param client the public address by which limits count its client; undefined when that is not known
   */
  signalsOf(signup: Looked, client: string | undefined): readonly Signal[] | undefined {
    const signals: Signal[] = []
    if (signup.message !== undefined) signals.push('hidden-field')
    if (this.#isDisposable(signup.email)) signals.push('disposable-domain')
    const ofName = this.#linkSignal(signup)
    if (ofName) signals.push(ofName)
    if (client !== undefined) this.#count(signup.name, client, signals)
    const points = signals.reduce((sum, signal) => sum + signalPoints[signal], 0)
    // Verifying a stamp costs more than all the rest, and for most signups it would change nothing.
    const isDecisive = points + signalPoints.stamp >= suspectPoints
    const isWrong =
      isDecisive && signup.stamp !== undefined && !this.#options.stamps.isGood(signup.stamp)
    if (isWrong) signals.push('stamp')
    return isWrong || points >= suspectPoints ? signals : undefined
  }

  #isDisposable(email: string): boolean {
    const { domains } = this.#options
    let domain = email.slice(email.lastIndexOf('@') + 1)
    while (domain.includes('.')) {
      for (const list of domains) if (list.has(domain)) return true
      domain = domain.slice(domain.indexOf('.') + 1)
    }
    return false
  }

  #linkSignal(signup: Looked): Signal | undefined {
    const name = withoutOwnAddress(signup)
    if (!hasLink(name)) return hasAddress(name) ? 'link-in-name' : undefined
    const { tags, fields } = signup
    const others = [...tags, ...this.#textFields.map((field) => fields[field])]
    const isElsewhere = others.some((text) => typeof text === 'string' && hasLink(text))
    return isElsewhere ? 'links' : 'link-in-name'
  }

  #count(name: string, client: string, signals: Signal[]): void {
    const { counts, site, clock } = this.#options
    const elapsed = clock.elapsed()
    const network = `${site} ${networkOf(client)}`
    if (counts.networks.add(network, undefined, elapsed)) signals.push('busy-network')
    const key = name.trim().toLowerCase()
    if (key === '') return
    if (counts.names.add(`${site} ${key}`, client, elapsed)) signals.push('repeated-name')
  }
}

/** The first 24 bits of an IPv4 address, or 48 bits of an IPv6 network of 64. */
function networkOf(client: string): string {
  return client.includes(':')
    ? client.split(':').slice(0, 3).join(':')
    : client.slice(0, client.lastIndexOf('.'))
}

/** The name without the address that signs up: people type that into a wrong field. */
function withoutOwnAddress({ name, email }: Looked): string {
  if (!name.includes('@')) return name
  const at = name.toLowerCase().indexOf(email.toLowerCase())
  return at === -1 ? name : name.slice(0, at) + name.slice(at + email.length)
}
