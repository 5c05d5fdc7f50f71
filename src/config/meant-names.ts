import { editDistance } from '../signup/edit-distance.ts'
import type { SettingName } from './settings.ts'

/** What a name that is none of ours was meant to be. */

export interface OtherName {
  /** The setting that is meant. */
  readonly meant: SettingName
  /**
   * Whether it is refused wherever it comes from: it would leave the door open, or send rows to the
   * local workbook. The others are refused in an `.env` file; the environment of the process is full
   * of other programs' names, so there they are a warning.
   */
  readonly isRefusedEverywhere: boolean
}

/**
 * Names that differ from ours by more than a few letters: short and long forms, and what the guides of
 * the providers call it. Each pattern stands for a few names only.
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

/** What Rollcall calls the thing that others know by this name. */
export function otherName(name: string): OtherName | undefined {
  const found = otherNames.find(([pattern]) => pattern.test(name))
  return found && { meant: found[1], isRefusedEverywhere: found[2] }
}

/** How long a name has to be, so that one like it, or with a letter or two wrong, is no other's. */
const lengthMin = 8
const lengthForOneEdit = 9
const lengthForTwoEdits = 12

/**
 * The setting that a variable was clearly meant to be. The environment is full of the names of other
 * programs, so it has to have the words of the setting, whatever their case, underscores and plural;
 * or, in a long name, a letter or two wrong; or it is how one setting begins and no other. `HOST` and
 * `PORT` are told from nothing.
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

/** In capitals, in the singular. */
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

/** The name that differs least from `given`, unless even that one differs in more than a third. */
export function nearest(given: string, names: readonly string[]): string | undefined {
  const ranked = names
    .map((name) => ({ name, edits: editDistance(given, name) }))
    .toSorted((a, b) => a.edits - b.edits)[0]
  return ranked && ranked.edits <= ranked.name.length / 3 ? ranked.name : undefined
}
