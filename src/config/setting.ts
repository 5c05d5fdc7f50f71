import { exemplified, type Kind } from './kind.ts'

/** What there is to know of a setting. */
interface Facts {
  readonly kind: Kind<unknown>
  /** Its name in `Config`, if it stands there as it is read. */
  readonly instance?: string
  /** Its path in the file of sites and in `SiteConfig`, if a site may have its own. */
  readonly site?: string
  /** The value when the setting is unset, as it would be written in the environment. */
  readonly default?: string
  readonly example: string
  /** Whether the value must never be printed. */
  readonly secret?: true
}

export interface Setting extends Facts {
  /** What it does, as sentences for people. */
  readonly meaning: string
}

/** A row of the table of settings. Its refusals say what to do, with the example at least. */
export function setting<const Row extends Facts>(facts: Row, meaning: string) {
  return { ...facts, kind: exemplified(facts.kind, facts.example) as Row['kind'], meaning }
}
