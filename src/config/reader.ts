import { type Key, type Kind, type Refusal, refusalOf, Wrong } from './kind.ts'
import { givenAt, pathText, valueAt } from './path.ts'
import { describeGiven, type SettingProblem } from './problem.ts'
import type { Setting } from './setting.ts'
import type { ValueOf } from './setting-values.ts'
import { type SettingName, settings } from './settings.ts'

export type Variables = Readonly<Record<string, string | undefined>>

/** What a site of the file says itself: as it stands there, and what is good of it. */
interface Own {
  readonly name: string
  readonly given: unknown
  readonly values: unknown
}

/**
 * Reads settings one by one and collects their problems, so that all are reported together: one of each
 * setting. That of a site reads what the site says itself, and else what the environment says.
 */
export class SettingsReader {
  readonly #variables: Variables
  readonly #told: Map<string, SettingProblem>
  readonly #values = new Map<string, unknown>()
  readonly #environment: SettingsReader | undefined
  readonly #own: Own | undefined

  constructor(variables: Variables, environment?: SettingsReader, own?: Own) {
    this.#variables = variables
    this.#told = environment ? environment.#told : new Map<string, SettingProblem>()
    this.#environment = own && environment
    this.#own = own
  }

  /** The reader of a site of the file. */
  of(own: Own): SettingsReader {
    return new SettingsReader(this.#variables, this, own)
  }

  /** The same environment without these variables. */
  without(names: readonly string[]): SettingsReader {
    const kept = Object.entries(this.#variables).filter(([name]) => !names.includes(name))
    return new SettingsReader(Object.fromEntries(kept), this)
  }

  /** The reader of the environment around a site. */
  get around(): SettingsReader {
    return this.#environment ?? this
  }

  get problems(): readonly SettingProblem[] {
    return [...this.#told.values()]
  }

  /** The text of a variable; undefined when it is unset or empty. */
  text(name: string): string | undefined {
    return textOf(this.#variables[name])
  }

  /** Whether at least one of these settings is neither unset nor empty. */
  isSet(...names: readonly SettingName[]): boolean {
    return names.some((name) => this.says(name) || this.text(name) !== undefined)
  }

  /** Whether the site says this itself. */
  says(name: string): boolean {
    return this.#at(name, this.#own?.given) !== undefined
  }

  /** What messages call the setting: a path in the file for what the site says itself. */
  nameOf(name: SettingName): string {
    return this.says(name) ? this.placeOf(...sitePath(name)) : name
  }

  /** The value of a setting, or its default. Undefined when it has none, and is unset or was refused. */
  value<Name extends SettingName>(name: Name): ValueOf<Name> {
    const { kind, default: standard = '' }: Setting = settings[name]
    const own = this.#at(name, this.#own?.values)
    if (own !== undefined) return own as ValueOf<Name>
    if (this.#environment) return this.#environment.value(name)
    if (!this.#values.has(name)) {
      const usual = new SettingsReader({ [name]: standard })
      this.#values.set(name, this.read(name, kind) ?? usual.read(name, kind))
    }
    return this.#values.get(name) as ValueOf<Name>
  }

  /** The value of this kind that a setting has; undefined when it is unset or was refused. */
  read<T>(name: string, kind: Kind<T>): T | undefined {
    const own = this.#at(name, this.#own?.values)
    const text = this.text(name)
    const given = own ?? (text === undefined ? undefined : (kind.written?.(text) ?? text))
    if (given === undefined) return undefined
    return kind.parse(given, (refusal, ...path) => {
      const problem = path.length === 0 ? refusal.problem : `has an entry that ${refusal.problem}`
      this.refuse(name, { ...refusal, problem })
    })
  }

  /** As `read`. Refuses an unset one with the reason why it is needed. */
  required<T>(name: string, kind: Kind<T>, reason = '', hint = kind.hint): T | undefined {
    if (this.text(name) === undefined) {
      this.refuse(name, refusalOf(kind, new Wrong(`is missing${reason}.`, hint)))
    }
    return this.read(name, kind)
  }

  /** Refuses one of two settings that is unset while the other is set. */
  bothOrNeither(...names: readonly [SettingName, SettingName]): void {
    const set = names.find((name) => this.isSet(name))
    if (set === undefined) return
    for (const name of names) {
      const { kind }: Setting = settings[name]
      this.required(name, kind, `, and ${set} is set`, `${kind.hint ?? ''} Or remove ${set}.`)
    }
  }

  refuse(name: string, refusal: Refusal): void {
    if (this.says(name)) this.refuseAt(sitePath(name), refusal)
    else this.tell(name, describeGiven(name, this.text(name)), refusal)
  }

  /** Refuses what stands, or should stand, in the site. */
  refuseAt(path: readonly Key[], refusal: Refusal): void {
    this.tell(this.placeOf(...path), givenAt(this.#own?.given, path), refusal)
  }

  /** What messages call a part of the site. */
  placeOf(...path: readonly Key[]): string {
    return pathText(['sites', this.#own?.name ?? '', ...path])
  }

  tell(setting: string, given: string, refusal: Refusal): void {
    const page = setting.includes('.fields[') ? 'forms' : 'sites'
    const { hint = `docs/${page}.md has an example.` } = refusal
    if (!this.#told.has(setting)) this.#told.set(setting, { setting, given, ...refusal, hint })
  }

  #at(name: string, own: unknown): unknown {
    return own === undefined ? undefined : valueAt(own, sitePath(name))
  }
}

/** The path of a setting in a site; one that leads nowhere if a site cannot have it. */
function sitePath(name: string): readonly string[] {
  const { site = ' ' }: Partial<Setting> = Object.hasOwn(settings, name)
    ? settings[name as SettingName]
    : {}
  return site.split('.')
}

/** Removes white space and one pair of quotes around a value, because Docker's `--env-file` keeps quotes. */
export function textOf(raw: string | undefined): string | undefined {
  const trimmed = raw?.trim() ?? ''
  const text = /^(["'])(.*)\1$/s.exec(trimmed)?.[2]?.trim() ?? trimmed
  return text === '' ? undefined : text
}
