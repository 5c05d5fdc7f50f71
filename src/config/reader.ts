import { describeGiven, type SettingProblem } from './problem.ts'
import type { Parser, SettingRefusal } from './refusal.ts'
import { type Setting, type SettingName, settings, type ValueOf } from './settings.ts'

export type Variables = Readonly<Record<string, string | undefined>>

/** Reads settings one by one and collects their problems, so that all are reported together. */
export class SettingsReader {
  readonly problems: SettingProblem[] = []
  readonly #variables: Variables

  constructor(variables: Variables) {
    this.#variables = variables
  }

  /** The text of a variable; undefined when it is unset or empty. */
  text(name: string): string | undefined {
    return textOf(this.#variables[name])
  }

  /** Whether at least one of these settings is neither unset nor empty. */
  isSet(...names: readonly SettingName[]): boolean {
    return names.some((name) => this.text(name) !== undefined)
  }

  /** The value of a setting, or its default. Undefined when it has none, and is unset or was refused. */
  value<Name extends SettingName>(name: Name): ValueOf<Name> {
    const { kind, default: standard, example }: Setting = settings[name]
    const given = this.optional(name, kind.parse)
    if (given !== undefined || standard === undefined) return given as ValueOf<Name>
    const parsed = kind.parse(standard, example)
    if (!('value' in parsed)) throw new Error(`The default of ${name} ${parsed.problem}`)
    return parsed.value as ValueOf<Name>
  }

  /** The value that `parse` makes of a setting; undefined when it is unset or was refused. */
  optional<T>(name: SettingName, parse: Parser<T>): T | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    const parsed = parse(text, settings[name].example)
    if ('value' in parsed) return parsed.value
    this.refuse(name, parsed)
    return undefined
  }

  /** As `value`. Refuses with `missing` when it is unset. */
  required<Name extends SettingName>(name: Name, missing: SettingRefusal): ValueOf<Name> {
    if (!this.isSet(name)) this.refuse(name, missing)
    return this.value(name)
  }

  /** Refuses one of two settings that is unset while the other is set. */
  bothOrNeither(one: SettingName, other: SettingName): void {
    const [missing, ...more] = [one, other].filter((name) => !this.isSet(name))
    if (missing === undefined || more.length > 0) return
    const set = missing === one ? other : one
    this.refuse(missing, {
      problem: `is missing, and ${set} is set.`,
      expected: `what belongs to ${set}`,
      hint: `Set it as docs/configuration.md says; or remove ${set}.`,
    })
  }

  refuse(name: string, refusal: SettingRefusal): void {
    const given = describeGiven(name, this.text(name))
    this.problems.push({ setting: name, given, ...refusal })
  }
}

/** Removes white space and one pair of quotes around a value, because Docker's `--env-file` keeps quotes. */
export function textOf(raw: string | undefined): string | undefined {
  const trimmed = raw?.trim() ?? ''
  const text = /^(["'])(.*)\1$/s.exec(trimmed)?.[2]?.trim() ?? trimmed
  return text === '' ? undefined : text
}
