import { webHost } from '../platform/web-host.ts'
import { tabKey } from '../signup/signup.ts'
import { entriesOf, listOf } from './kinds.ts'
import type { ParsedSetting } from './refusal.ts'
import { bearerToken, keyCharactersMin, tabName } from './values.ts'

/** Names of tabs. Of two names for the same tab the first is kept. */
export const tabList = listOf(
  tabName,
  {
    empty: 'names no tab.',
    bad: (problem) => `has a name that cannot be used: ${problem}`,
    expected: 'names of tabs with commas between them, such as Newsletter,Waitlist',
    hint: 'If the name of a tab has a comma in it, rename that tab.',
  },
  { countMax: 1_000, keyOf: tabKey },
)

export const apiKeys = listOf(
  bearerToken,
  {
    empty: 'holds no key.',
    bad: (problem) => `has a key that ${problem}`,
    expected: `keys of at least ${keyCharactersMin} visible ASCII characters, without spaces, with commas between them`,
    hint: 'Make each key with a password generator, or with: openssl rand -hex 32',
  },
  { countMax: 1_000 },
)

const hostHint = 'Leave out https://, ports, paths and wildcards; list each subdomain.'

/** The hosts of pages, as browsers write them. */
export const challengeHosts = listOf(
  (text): ParsedSetting<string> => {
    const value = /[/?#@:;*\\\s%]/.test(text) ? undefined : URL.parse(`http://${text}`)?.hostname
    if (value !== undefined) return { value }
    const expected = 'a host name, such as www.example.com'
    return { problem: 'is not a host name.', expected, hint: hostHint }
  },
  {
    empty: 'names no host.',
    bad: () => 'has an entry that is not a host name.',
    expected: 'host names with commas between them, such as example.com,www.example.com',
    hint: hostHint,
  },
  { countMax: 100 },
)

const hosts = {
  expected: 'host names, such as signup.example.com,localhost:3000',
  hint: 'Leave out https://, paths and wildcards. Add the port only if the URL of the page has one.',
}

/** Hosts with or without ports, as browsers write them. */
export const ownHosts = listOf(
  (text): ParsedSetting<string> => {
    const value = text.includes('*') ? undefined : webHost(text)
    return value === undefined ? { problem: 'is not a host.', ...hosts } : { value }
  },
  { empty: 'names no host.', bad: () => 'has an entry that is not a host.', ...hosts },
  { countMax: 1_000 },
)

/**
 * Warns of entries that look like several, because another sign than a comma stands between them. They are
 * not refused: the name of a tab may have such a sign on purpose, and so may a key. A key is not shown.
 */
export function separatorWarnings(texts: {
  readonly tabs: string | undefined
  readonly keys: string | undefined
}): readonly string[] {
  const isSeveral = (entry: string, charactersMin: number) =>
    entry.split(/[;|]/).filter((part) => part.trim().length >= charactersMin).length > 1
  const warnings: string[] = []
  if (entriesOf(texts.tabs ?? '').some((entry) => isSeveral(entry, 1))) {
    warnings.push(`SHEET_TABS has a tab ${andGoOn}`)
  }
  if (entriesOf(texts.keys ?? '').some((entry) => isSeveral(entry, keyCharactersMin))) {
    warnings.push(`API_KEYS has a key ${andGoOn}`)
  }
  return warnings
}

const andGoOn =
  'with ; or | in it, which is taken as one. If these are several, write commas between them.'
