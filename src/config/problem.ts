import { settings } from './settings.ts'

/** Why a value is refused, in words that never carry the value itself. */
export interface SettingRefusal {
  /** What is wrong, as the rest of a sentence that begins with the setting's name. */
  readonly problem: string
  readonly expected: string
  /** What to do about it. */
  readonly hint: string
}

/** One problem in the settings, safe to print and to log. */
export interface SettingProblem extends SettingRefusal {
  /** Name of the variable, or of the file that could not be read. */
  readonly setting: string
  /** The value, or only its form when it is a secret or may hold one. */
  readonly given: string
}

export type Parsed<T> = { readonly value: T } | SettingRefusal

/** Gives the text of a setting its meaning. `example` is one that is accepted, for the hint. */
export type Parser<T> = (text: string, example: string) => Parsed<T>

/** The settings cannot be used. The message tells every problem, ready to print. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly SettingProblem[]

  constructor(problems: readonly SettingProblem[], options?: ErrorOptions) {
    const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`
    const title = `Rollcall cannot start: ${count} in the settings.`
    super([title, ...problems.map(paragraph)].join('\n\n'), options)
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

const secretNames: ReadonlySet<string> = new Set(
  settings.filter((setting) => 'secret' in setting).map((setting) => setting.name),
)

/**
 * How a value is told to the operator: as it is, or by its form when it could give a secret away.
 */
export function describeGiven(name: string, text: string | undefined): string {
  if (text === undefined) return 'nothing'
  return secretNames.has(name) || mayHoldSecret(text) ? formOf(text) : JSON.stringify(text)
}

/**
 * A secret that was pasted into the wrong variable: too long for anything else, parts of a PEM or
 * JSON key, a password in a URL, hCaptcha's secret key, or a run of letters and digits that words do
 * not make.
 */
function mayHoldSecret(text: string): boolean {
  const unbroken = text.replace(/\\+[rn]|\s/g, '')
  // Base64 has slashes of its own; in paths and addresses they stand between words.
  const isPath = /^(https?:\/\/|~?\.{0,2}[\\/]|[a-z]:[\\/])/i.test(text)
  const runs = text.split(isPath ? /[^\w+=-]+/ : /[^\w+/=-]+/)
  return (
    text.length > 200 ||
    /PRIVATE|-----|[{}]|:\/\/.*@|^ES_/.test(text) ||
    /[\w+/=-]{60}/.test(unbroken) ||
    runs.some(looksRandom)
  )
}

/** Twelve characters with capitals and small letters mixed, or thirty-two with digits among them. */
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
  return `a text of ${text.length.toLocaleString('en-US')} ${characters}${lines}${begins}`
}
