import { webHost } from '../platform/web-host.ts'
import { tabProblem, tabsByKey } from '../signup/tab.ts'
import type { ParsedSetting } from './problem.ts'

/** Parses tab names separated by commas. Keeps the first of two names for the same tab. */
export function tabList(text: string): ParsedSetting<readonly string[]> {
  const names = parts(text)
  const expected = 'names of tabs with commas between them, such as Newsletter,Waitlist'
  const hint = 'If the name of a tab has a comma in it, rename that tab.'
  if (names.length === 0) return { problem: 'names no tab.', expected, hint }
  const problem = names.map(tabProblem).find((found) => found !== undefined)
  if (problem !== undefined)
    return { problem: `has a name that cannot be used: ${problem}`, expected, hint }
  return { value: [...tabsByKey(names).values()] }
}

/** Shorter keys can be guessed. */
const keyCharactersMin = 16

const isExample = 'has a key of our documentation, which everybody knows.'

/** Parses API keys separated by commas. */
export function keyList(text: string, example: string): ParsedSetting<readonly string[]> {
  const keys = parts(text)
  const areSendable = keys.every((key) => /^[\x21-\x7e]+$/.test(key))
  const areLong = keys.every((key) => key.length >= keyCharactersMin)
  const areOwn = !keys.some((key) => parts(example).includes(key))
  if (keys.length > 0 && areSendable && areLong && areOwn) return { value: keys }
  const tooShort = areLong ? 'holds no key.' : `has a key of under ${keyCharactersMin} characters.`
  const unusable = areSendable ? tooShort : 'has a key that no HTTP header can carry.'
  return {
    problem: areOwn ? unusable : isExample,
    expected: `keys of at least ${keyCharactersMin} visible ASCII characters, without spaces, with commas between them`,
    hint: 'Make each key with a password generator, or with: openssl rand -hex 32',
  }
}

/** Parses one token that a program sends as `Authorization: Bearer`. */
export function bearerToken(text: string, example: string): ParsedSetting<string> {
  const isSendable = /^[\x21-\x7e]+$/.test(text)
  const isOwn = text !== example
  if (isSendable && text.length >= keyCharactersMin && isOwn) return { value: text }
  const unusable = isSendable
    ? `has under ${keyCharactersMin} characters.`
    : 'has a character that no HTTP header can carry.'
  return {
    problem: isOwn ? unusable : 'is the token of our documentation, which everybody knows.',
    expected: `at least ${keyCharactersMin} visible ASCII characters, without spaces`,
    hint: 'Make it with a password generator, or with: openssl rand -hex 32',
  }
}

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
  if (parts(texts.tabs ?? '').some((entry) => isSeveral(entry, 1))) {
    warnings.push(`SHEET_TABS has a tab ${andGoOn}`)
  }
  if (parts(texts.keys ?? '').some((entry) => isSeveral(entry, keyCharactersMin))) {
    warnings.push(`API_KEYS has a key ${andGoOn}`)
  }
  return warnings
}

const andGoOn =
  'with ; or | in it, which is taken as one. If these are several, write commas between them.'

function parts(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

/** Parses hosts separated by commas, with or without ports. Returns each as browsers write it. */
export function ownHosts(text: string): ParsedSetting<readonly string[]> {
  const names = text.split(',').flatMap((name) => name.trim() || [])
  const hosts = names.flatMap((name) => (name.includes('*') ? [] : (webHost(name) ?? [])))
  if (hosts.length === names.length && hosts.length > 0) return { value: [...new Set(hosts)] }
  return {
    problem: 'has an entry that is not a host.',
    expected: 'host names, such as signup.example.com,localhost:3000',
    hint: 'Leave out https://, paths and wildcards. Add the port only if the URL of the page has one.',
  }
}
