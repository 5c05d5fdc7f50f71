import { z } from 'zod'
import { languages } from '../signup/languages.ts'
import type { SiteText, Translations } from '../signup/site-text.ts'
import type { Parser, SettingRefusal } from './refusal.ts'

/** Text that is read as the environment's setting of the same meaning is. */
export function parsedBy<T>(parse: Parser<T>, example: string): z.ZodType<T, string> {
  const schema = z
    .string()
    .overwrite((text) => text.trim())
    .check((payload) => {
      const parsed = payload.value === '' ? empty : parse(payload.value, example)
      if ('value' in parsed) (payload as z.core.ParsePayload).value = parsed.value
      else note(payload, parsed)
    })
    .meta({ examples: [example] })
  // The check turns the text into a `T`, which zod's own types cannot express.
  return schema as unknown as z.ZodType<T, string>
}

const empty: SettingRefusal = {
  problem: 'is empty.',
  expected: 'a text',
  hint: 'Leave the key out if you do not need it.',
}

/** A text, or the same text in several languages, each read by `text`. They keep their order. */
export function inLanguages(text: z.ZodType<string>): z.ZodType<SiteText> {
  const known: readonly string[] = languages
  const translations = z
    .record(z.string(), text)
    .check((payload) => {
      const codes = Object.keys(payload.value)
      const expected = `one or more of ${languages.join(', ')}`
      if (codes.length === 0) note(payload, { ...empty, expected })
      for (const code of codes.filter((it) => !known.includes(it))) {
        const hint = 'Write de for de-AT. Visitors of other languages get the first text.'
        note(payload, { problem: 'is no language of the pages.', expected, hint }, [code])
      }
    })
    .meta({ minProperties: 1, propertyNames: { enum: languages } })
  return z.union([text, translations as unknown as z.ZodType<Translations>])
}

/** An object with these keys only. The message about another one has the names of these. */
export function closedObject<Shape extends z.core.$ZodShape>(shape: Shape) {
  const keys = Object.keys(shape).join(' ')
  return z.strictObject(shape, {
    error: ({ code }) => (code === 'unrecognized_keys' ? keys : undefined),
  })
}

/** Notes a problem of the value, or of a part of it. Checks of what is around it go on. */
export function note(
  payload: z.core.ParsePayload,
  refusal: SettingRefusal,
  path: PropertyKey[] = [],
): void {
  const { value: input } = payload
  // `schema-problems.ts` tells all of the refusal.
  const params = { ...refusal }
  payload.issues.push({ code: 'custom', path, input, params, continue: true })
}
