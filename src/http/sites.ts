import type { AllowedOrigins } from './origin.ts'
import type { ProblemField } from '../signup/wire.ts'

/** What the edge needs to know about a site. */
export interface EdgeSite {
  readonly name: string
  readonly origins: AllowedOrigins
  /** The limit for each client address; 0 means no limit. */
  readonly signupsPerMinute: number
  /** What the operator calls the setting of its origins. */
  readonly settingNames: { readonly ALLOWED_ORIGINS: string }
}

/** The site that a request is about, as far as its address tells. */
export interface AddressedSite {
  /** Undefined when the name is unknown, when there are several, or when a site has to be named and is not. */
  readonly site: EdgeSite | undefined
  /** The name in the address, or its names with `&` between them; undefined when there is none. */
  readonly name: string | undefined
}

const charactersShown = 40

/** All sites of the service. A request names one of them by `?site=`; where no file names sites, there is only one. */
export class Sites {
  readonly all: readonly [EdgeSite, ...EdgeSite[]]
  /** Whether a file names them; otherwise there is one for all, and a body names none. */
  readonly areNamed: boolean
  readonly #byName: ReadonlyMap<string, EdgeSite>
  readonly #unnamed: AddressedSite

  /** @param unnamed the site of a request that names none; undefined when each has to name one */
  constructor(
    all: readonly [EdgeSite, ...EdgeSite[]],
    areNamed: boolean,
    unnamed: EdgeSite | undefined,
  ) {
    this.all = all
    this.areNamed = areNamed
    this.#byName = new Map(all.map((site) => [site.name, site]))
    this.#unnamed = { site: unnamed, name: undefined }
  }

  find(name: string): EdgeSite | undefined {
    return this.#byName.get(name)
  }

  /** @param url absolute, or a path with its query */
  inUrl(url: string): AddressedSite {
    if (!url.includes('?')) return this.#unnamed
    const names = new Set(new URL(url).searchParams.getAll('site'))
    names.delete('')
    if (names.size === 0) return this.#unnamed
    // No site has a name with this sign, so a request that names two is of none.
    const name = [...names].join('&')
    return { site: this.find(name), name }
  }
}

/** The problem of a request whose site is unknown, or is named nowhere. */
export function unknownSite(name: string | undefined): ProblemField {
  const message =
    name === undefined
      ? 'The site is missing: add ?site= and its name to the address.'
      : `There is no site "${name.slice(0, charactersShown)}".`
  return { field: 'site', message }
}
