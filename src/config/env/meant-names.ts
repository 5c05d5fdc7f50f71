import { editDistance } from '../../signup/edit-distance.ts'
import type { SettingName } from '../settings.ts'

/** Finds the setting that a misspelt or foreign variable name means. */

export interface OtherName {
  /** The setting that is meant. */
  readonly meant: SettingName
  /**
   * Whether the name is always refused, because ignoring it would turn off the challenge or send rows
   * to the local workbook. Other names are refused in an `.env` file only. In the environment of the
   * process, which has many names of other programs, they are a warning.
   */
  readonly isRefusedEverywhere: boolean
}

/**
 * Names that differ from ours by more than a few letters: short and long forms, and the names in the
 * providers' guides. Each pattern matches only a few names.
 */
const otherNames: readonly (readonly [RegExp, SettingName, OtherName['isRefusedEverywhere']])[] = [
  [/^((GOOGLE_)?SHEET|(GOOGLE_|GOOGLE_SHEETS_)?SPREADSHEET)_ID$/, 'SHEETS_SHEET_ID', true],
  [/^GOOGLE_SHEETS_(SHEET_)?ID$/, 'SHEETS_SHEET_ID', true],
  [
    /^(CF_|CLOUDFLARE_)?(TURNSTILE|HCAPTCHA|RECAPTCHA)_SECRET(_?KEY)?$/,
    'CHALLENGE_SECRET_KEY',
    true,
  ],
  [/^(CF_|CLOUDFLARE_)?(TURNSTILE|HCAPTCHA|RECAPTCHA)_SITE_?KEY$/, 'CHALLENGE_SITE_KEY', true],
  [/^GOOGLE_(SHEETS_|SERVICE_ACCOUNT_)?PRIVATE_KEY$/, 'SHEETS_PRIVATE_KEY', false],
  [/^GOOGLE_(SHEETS_)?(SERVICE_ACCOUNT_|CLIENT_)EMAIL$/, 'SHEETS_CREDENTIALS_EMAIL', false],
  [/^DEFAULT_TAB$/, 'DEFAULT_SHEET_TAB', false],
  [/^DATA_DIRECTORY$/, 'DATA_DIR', false],
]

/** The setting that other programs know by this name; undefined when there is none. */
export function otherName(name: string): OtherName | undefined {
  const found = otherNames.find(([pattern]) => pattern.test(name))
  return found && { meant: found[1], isRefusedEverywhere: found[2] }
}

/**
 * Shorter names are not recognised when they are misspelt, or misspelt in one or two letters, because
 * the name of another program may look like them.
 */
const lengthMin = 8
const lengthForOneEdit = 9
const lengthForTwoEdits = 12

/**
 * The setting that a variable clearly means. The environment has many names of other programs, so the
 * name must have the words of the setting, in any case, number and separation; or differ from it in one
 * or two letters, if it is long; or be the beginning of exactly one setting. `HOST` and `PORT` are too
 * short to be recognised.
 */
export function nearMiss(given: string, names: readonly string[]): string | undefined {
  const tellable = names.filter((name) => name.length >= lengthMin)
  const words = wordsOf(given)
  const longer = tellable.filter((name) => words.length > 1 && beginsWith(wordsOf(name), words))
  return (
    tellable.find((name) => wordsOf(name).join('') === words.join('')) ??
    tellable.find((name) => editDistance(given.toUpperCase(), name) <= editsMax(name)) ??
    (longer.length === 1 ? longer[0] : undefined)
  )
}

/** The words of a name, in capitals and in the singular. */
function wordsOf(name: string): string[] {
  const words = name.toUpperCase().split(/[_-]+/)
  return words.map((word) => word.replace(/IES$/, 'Y').replace(/S$/, ''))
}

function beginsWith(words: readonly string[], first: readonly string[]): boolean {
  return first.every((word, index) => words[index] === word)
}

function editsMax(name: string): number {
  if (name.length >= lengthForTwoEdits) return 2
  return name.length >= lengthForOneEdit ? 1 : 0
}

/** The name most similar to `given`; undefined when more than a third of it differs. */
export function nearest(given: string, names: readonly string[]): string | undefined {
  const ranked = names
    .map((name) => ({ name, edits: editDistance(given, name) }))
    .toSorted((a, b) => a.edits - b.edits)[0]
  return ranked && ranked.edits <= ranked.name.length / 3 ? ranked.name : undefined
}
