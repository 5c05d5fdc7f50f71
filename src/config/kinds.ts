import { z } from 'zod'
import type { SiteText } from '../signup/site-text.ts'
import { suggest } from '../signup/suggest.ts'
import { hasUnprintable } from '../signup/text.ts'
import type { ParsedSetting, Parser, SettingRefusal } from './refusal.ts'
import { inLanguages, parsedBy } from './schema-parts.ts'

/** What values a setting may have, and how they are written. */
export interface Kind<T> {
  /** Reads the text of a variable. */
  readonly parse: Parser<T>
  /** Reads the same value in the file of sites. */
  readonly json: (example: string) => z.ZodType<T>
  /** The values it may have, for documents; left out when the meaning of the setting says it. */
  readonly form?: string
}

export function text<T>(parse: Parser<T>): Kind<T> {
  return { parse, json: (example) => parsedBy(parse, example) }
}

/** Text as it was given, for what is read together with other settings. */
export const given = text((value: string): ParsedSetting<string> => ({ value }))

export function line(charactersMax: number): Kind<string> {
  const parse = (value: string): ParsedSetting<string> => {
    const isLine = !hasUnprintable(value)
    if (isLine && value.length <= charactersMax) return { value }
    return {
      problem: isLine ? 'is too long.' : 'has line breaks or other control characters in it.',
      expected: `up to ${thousands(charactersMax)} characters in one line`,
      hint: 'Write plain text. The page shows HTML tags as they are typed.',
    }
  }
  return upTo(charactersMax, parse)
}

function upTo(charactersMax: number, parse: Parser<string>): Kind<string> {
  return {
    parse,
    json: (example) => parsedBy(parse, example).meta({ minLength: 1, maxLength: charactersMax }),
    form: `Up to ${thousands(charactersMax)} characters.`,
  }
}

/** A text in several lines. An empty line stands between paragraphs. */
export function lines(charactersMax: number): Kind<string> {
  const one = line(charactersMax)
  const parse = (value: string, example: string): ParsedSetting<string> => {
    const text = value.replace(/\r\n?/g, '\n')
    const parsed = one.parse(text.replaceAll('\n', ' '), example)
    if ('value' in parsed) return { value: text }
    return {
      problem: parsed.problem.replace('line breaks or other ', ''),
      expected: `up to ${thousands(charactersMax)} characters`,
      hint: 'Write plain text. Mails show HTML tags as they are typed.',
    }
  }
  return upTo(charactersMax, parse)
}

/** A text that a site may have in several languages. A variable has it in one. */
export function siteText(kind: Kind<string>): Kind<SiteText> {
  return { ...kind, json: (example) => inLanguages(kind.json(example)) }
}

/** A whole number from `min` to `max`: in a variable in digits only. */
export function wholeNumber(min: number, max: number): Kind<number> {
  const range = `from ${thousands(min)} to ${thousands(max)}`
  return {
    parse: (value, example) => {
      const number = Number(value)
      const hasDigitsOnly = /^\d+$/.test(value)
      if (hasDigitsOnly && number >= min && number <= max) return { value: number }
      const isNumber = /^[+-]?\d+(\.\d+)?$/.test(value)
      return {
        problem: isNumber ? 'is out of range.' : 'is not a whole number.',
        expected: `a whole number ${range}`,
        hint: hasDigitsOnly
          ? `Choose one ${range}, such as ${example}.`
          : `Write it with digits only, such as ${example}: no unit, sign, comma or dot.`,
      }
    },
    json: () => z.int().min(min).max(max),
    form: `From ${thousands(min)} to ${thousands(max)}.`,
  }
}

/** One of some words: in a variable in small or capital letters. */
export function oneOf<const Word extends string>(words: readonly [Word, ...Word[]]): Kind<Word> {
  return {
    parse: (value) => {
      const word = words.find((it) => it === value.toLowerCase())
      return word === undefined ? noneOf(words, value) : { value: word }
    },
    json: () => z.enum(words),
  }
}

export function noneOf(values: readonly unknown[], given: unknown): SettingRefusal {
  const words = values.filter((it) => it !== undefined).map(String)
  const meant = typeof given === 'string' ? suggest(given, words) : undefined
  return {
    problem: 'is none of the words it may be.',
    expected: `one of ${words.join(', ')}`,
    hint: meant === undefined ? 'Write one of them.' : `Did you mean ${meant}?`,
  }
}

const entriesMax = 1_000

/**
 * Values with commas between them in a variable, and a list in the file of sites.
 *
 * @param keyOf of entries with the same key, the first is kept
 */
export function listOf<T>(
  parseOne: Parser<T>,
  expected: string,
  keyOf: (value: T) => unknown = (value) => value,
): Kind<readonly T[]> {
  const once = (values: readonly T[]): readonly T[] =>
    [...Map.groupBy(values, keyOf).values()].flatMap((alike) => alike.slice(0, 1))
  return {
    parse: (value, example) => {
      const parsed = entriesOf(value).map((entry) => parseOne(entry, example))
      const refused = parsed.find((it) => 'problem' in it)
      if (refused) {
        const problem = `has an entry that ${refused.problem}`
        return { problem, expected, hint: refused.hint }
      }
      const values = parsed.flatMap((it) => ('value' in it ? [it.value] : []))
      if (values.length > 0) return { value: once(values) }
      return { problem: 'has no entry.', expected, hint: 'Remove it, or write one or more.' }
    },
    json: (example) =>
      z
        .array(parsedBy(parseOne, example.split(',')[0] ?? ''))
        .min(1)
        .max(entriesMax)
        .transform(once),
  }
}

export function entriesOf(value: string): string[] {
  return value.split(',').flatMap((entry) => entry.trim() || [])
}

function thousands(value: number): string {
  return value.toLocaleString('en-US')
}
