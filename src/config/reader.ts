import { describeGiven } from './problem.ts'
import type { Parser, SettingProblem, SettingRefusal } from './problem.ts'
import { settings } from './settings.ts'
import type { SettingName, SettingWithDefault } from './settings.ts'

export type Variables = Readonly<Record<string, string | undefined>>

/**
 * Reads settings one by one and collects their problems, so that all are reported together.
 */
export class SettingsReader {
  readonly problems: SettingProblem[] = []
  readonly #variables: Variables

  constructor(variables: Variables) {
    this.#variables = variables
  }

  /** The text of a setting; undefined when it is unset or empty. */
  text(name: SettingName): string | undefined {
    return textOf(this.#variables[name])
  }

  /** The parsed value of a setting; undefined when it is unset or was refused. */
  optional<T>(name: SettingName, parse: Parser<T>): T | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    const parsed = parse(text, exampleOf(name))
    if ('value' in parsed) return parsed.value
    this.refuse(name, parsed)
    return undefined
  }

  /** The parsed value of a required setting. Refuses with `missing` when it is unset. */
  required<T>(name: SettingName, parse: Parser<T>, missing: SettingRefusal): T | undefined {
    if (this.text(name) === undefined) this.refuse(name, missing)
    return this.optional(name, parse)
  }

  /** The parsed value of a setting; its default when it is unset or was refused. */
  withDefault<T>(name: SettingWithDefault, parse: Parser<T>): T {
    const parsed = parse(defaultOf(name), exampleOf(name))
    if (!('value' in parsed)) throw new Error(`The default of ${name} ${parsed.problem}`)
    return this.optional(name, parse) ?? parsed.value
  }

  refuse(name: SettingName, refusal: SettingRefusal): void {
    const given = describeGiven(name, this.text(name))
    const { problem, expected, hint } = refusal
    this.problems.push({ setting: name, problem, given, expected, hint })
  }
}

/**
 * Removes white space and one pair of quotes around a value, because Docker's `--env-file` keeps quotes.
 */
export function textOf(raw: string | undefined): string | undefined {
  const trimmed = raw?.trim() ?? ''
  const text = /^(["'])(.*)\1$/s.exec(trimmed)?.[2]?.trim() ?? trimmed
  return text === '' ? undefined : text
}

function exampleOf(name: SettingName): string {
  return settings.find((setting) => setting.name === name)?.example ?? ''
}

function defaultOf(name: SettingWithDefault): string {
  for (const setting of settings) {
    if (setting.name === name && 'default' in setting) return setting.default
  }
  throw new Error(`${name} has no default.`)
}
