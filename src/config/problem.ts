import { digits } from '../platform/digits.ts'
import { isSecret } from './settings.ts'

/** One problem in the settings, safe to print and to log. */
export interface SettingProblem {
  /** Name of the variable, a path in the file of sites, or the name of the file that could not be read. */
  readonly setting: string
  /** What is wrong; completes a sentence that begins with the setting's name. */
  readonly problem: string
  /** The value; only a description of it when it is or may contain a secret. */
  readonly given: string
  readonly expected: string
  /** What to do about it. */
  readonly hint: string
}

/** The settings cannot be used. The message lists every problem and is ready to print. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly SettingProblem[]

  /** @param options.besides sentences about what may be the reason */
  constructor(
    problems: readonly SettingProblem[],
    { besides = [], ...options }: ErrorOptions & { readonly besides?: readonly string[] } = {},
  ) {
    const { length } = problems
    const count = length === 1 ? 'There is 1 problem' : `There are ${length} problems`
    const title = `${count} in the settings.`
    super(
      [title, ...problems.map(paragraph), ...besides.map((it) => `  ${it}`)].join('\n\n'),
      options,
    )
    this.problems = problems
  }
}

function paragraph({ setting, problem, given, expected, hint }: SettingProblem): string {
  return [
    `  ${setting}: ${problem}`,
    `    given:    ${given}`,
    `    expected: ${expected}`,
    `    do:       ${hint}`,
  ].join('\n')
}

/** Describes a value for the operator: the value itself, or only its form when it may contain a secret. */
export function describeGiven(name: string, text: string | undefined): string {
  if (text === undefined) return 'nothing'
  return isSecret(name) || mayHoldSecret(text) ? formOf(text) : JSON.stringify(text)
}

/**
 * Whether a value may be a secret in the wrong variable: a very long text, a part of a PEM or JSON key,
 * a URL with a password, hCaptcha's secret key, or a run of letters and digits that looks random.
 */
function mayHoldSecret(text: string): boolean {
  if (text.length > 200) return true
  const unbroken = text.replace(/\\+[rn]|\s/g, '')
  // In paths and URLs, slashes separate words. Elsewhere they may be part of base64.
  const isPath = /^(https?:\/\/|~?\.{0,2}[\\/]|[a-z]:[\\/])/i.test(text)
  const runs = text.split(isPath ? /[^\w+=-]+/ : /[^\w+/=-]+/)
  return (
    /PRIVATE|-----|[{}]|:\/\/.*@|^ES_/.test(text) ||
    /[\w+/=-]{60}/.test(unbroken) ||
    runs.some(looksRandom)
  )
}

/** Whether a run has 12 or more characters in mixed case, or 32 or more with a digit. */
function looksRandom(run: string): boolean {
  const isMixed = /[A-Z]/.test(run) && /[a-z]/.test(run)
  return (run.length >= 12 && isMixed) || (run.length >= 32 && /\d/.test(run))
}

function formOf(text: string): string {
  const lineCount = text.split(/\r\n|\r|\n/).length
  const lines = lineCount > 1 ? ` in ${lineCount} lines` : ''
  const beginning = /^["'\s]*(-+BEGIN [A-Z ]{1,40}-+|\{)/.exec(text)?.[0].trim()
  const begins = beginning === undefined ? '' : ` that begins with ${beginning}`
  const characters = text.length === 1 ? 'character' : 'characters'
  return `a text of ${digits(text.length)} ${characters}${lines}${begins}`
}
