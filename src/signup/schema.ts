import { z } from 'zod'
import { emailProblem, storedEmail } from './email.ts'
import { stampField, unseenField } from './filter-fields.ts'
import { limits } from './limits.ts'
import { compactMetadata } from './metadata.ts'
import { tabProblem } from './tab.ts'
import { cleanText } from './text.ts'

const email = z
  .string({ error: (issue) => emailTypeMessage(issue.input) })
  .overwrite(storedEmail)
  .check(problemCheck(emailProblem))
  .meta({
    description:
      'Email address of the person, as type=email accepts it in a browser, with a dot in the domain. ' +
      'A domain in other letters is stored in its ASCII form.',
    format: 'email',
    maxLength: limits.emailCharactersMax,
    examples: ['ada@example.com'],
  })

const sheetTab = z
  .string('The tab must be given once, as text.')
  .check(problemCheck((typed) => (typed === '' ? undefined : tabProblem(typed.trim()))))
  .overwrite((typed) => typed.trim())
  .meta({
    description: 'Tab of the spreadsheet; the default tab when absent. Made when it is missing.',
    maxLength: limits.tabCharactersMax,
  })

const tab = sheetTab.meta({
  description: 'The same as sheetTab. When a signup has both, they have to name the same tab.',
  maxLength: limits.tabCharactersMax,
})

const source = line('source', limits.sourceCharactersMax).meta({
  description: 'Where the signup comes from; when absent, the way it came.',
})

const name = line('name', limits.nameCharactersMax).meta({ description: 'Name of the person.' })

/** More problems help nobody, and a body can hold half a million. */
const tagProblemsMax = 20

const tag = z.unknown().meta({ type: 'string', maxLength: limits.tagCharactersMax })

const tags = z
  .union([z.array(tag).meta({ maxItems: limits.tagsMax }), z.string()], {
    error: 'Tags must be a list of texts, or one text with commas between them.',
  })
  .check((payload) => {
    const given = payload.value
    const list: readonly unknown[] = Array.isArray(given) ? given : (given.match(/[^,]+/g) ?? [])
    const kept: string[] = []
    for (const [index, item] of list.entries()) {
      const text = typeof item === 'string' ? cleanText(item) : undefined
      if (text === '') continue
      if (text !== undefined) kept.push(text)
      const problem = tagProblem(text)
      if (problem !== undefined) note(payload, problem, list === given ? [index] : [])
      if (kept.length > limits.tagsMax) note(payload, `Too many tags: at most ${limits.tagsMax}.`)
      if (kept.length > limits.tagsMax || payload.issues.length >= tagProblemsMax) break
    }
    payload.value = kept
  })
  .meta({ description: 'A list, or one text with commas between the tags.' }) as unknown as Becomes<
  readonly string[]
>

const metadata = z
  .unknown()
  .check((payload) => {
    const given = payload.value
    const isAbsent = given === undefined || given === null || given === ''
    const compact = isAbsent ? { text: '' } : compactMetadata(given)
    if ('text' in compact) payload.value = compact.text
    else note(payload, compact.problem)
  })
  .optional()
  .meta({
    description: `Anything else: at most ${limits.metadataCharactersMax} characters as JSON.`,
    type: ['object', 'null'],
    maxProperties: limits.metadataKeysMax,
    additionalProperties: true,
  }) as unknown as z.ZodOptional<Becomes<string>>

const token = z
  .string('The challenge token must be text.')
  // Cut one character past the limit: the challenge refuses a token that is too long.
  .overwrite((given) => given.slice(0, limits.tokenCharactersMax + 1))
  .meta({
    description: 'Token of the challenge widget; needed while the challenge is on.',
    maxLength: limits.tokenCharactersMax,
  })

const confirmed = z
  .union([z.boolean(), z.literal('')], 'The member confirmed must be true or false.')
  .meta({
    description:
      'True with an API key: the people have confirmed elsewhere, so no mail asks them to. It is without ' +
      'effect where signups are not confirmed, and a 422 without a key.',
  })
  .nullish()

const redirect = z
  .string()
  // Cut like the token: a redirect that is too long is not followed.
  .overwrite((given) => given.slice(0, limits.redirectCharactersMax + 1))
  .meta({
    description: 'Where the browser goes after signing up. Followed only to allowed origins.',
    maxLength: limits.redirectCharactersMax,
  })

/** A stamp is shorter. */
const filteredCharactersMax = 100

/** Text that only the spam filter looks at. It is cut, and never refused. */
function forFilter(description: string) {
  return z
    .string()
    .overwrite((given) => given.slice(0, filteredCharactersMax + 1))
    .meta({ description })
    .nullish()
}

/** One signup of a bulk request. In all schemas, null or '' in an optional field counts as absent. */
export const bulkItemSchema = z.strictObject({
  email,
  sheetTab: sheetTab.nullish(),
  source: source.nullish(),
  name: name.nullish(),
  tags: tags.nullish(),
  metadata,
  tab: tab.nullish(),
})

const withToken = {
  ...bulkItemSchema.shape,
  challengeToken: token.nullish(),
  'cf-turnstile-response': token.nullish(),
  'h-captcha-response': token.nullish(),
  'g-recaptcha-response': token.nullish(),
  altcha: token.nullish(),
}

/** The JSON body of one signup. */
export const signupSchema = z.strictObject({ ...withToken, confirmed })

/** The fields of a form, once `formFields` has gathered them. */
export const formSchema = z.strictObject({
  ...withToken,
  redirect: redirect.nullish(),
  [unseenField]: forFilter('Stays empty: people do not see it (docs/spam.md).'),
  [stampField]: forFilter('The stamp of GET /api/stamp.'),
})

/** The JSON body of a bulk request. Each signup in it is parsed separately. */
export const bulkSchema = z.strictObject({
  signups: z
    .array(z.unknown(), {
      error: ({ input }) =>
        input === undefined || input === null
          ? 'The list of signups is missing.'
          : 'The signups must be a list.',
    })
    .min(1, 'The list of signups is empty.')
    .meta({ description: 'The signups, in the order in which they become rows.' }),
  challengeToken: token.nullish(),
  confirmed,
})

const compiled = new Map<z.ZodType, z.ZodType>()

/**
 * The same schema with a parser that zod has compiled, which takes two thirds of the time for a valid signup. It is
 * made when it is first asked for: that takes milliseconds, and a start needs none.
 */
export function compiledOf<T extends z.ZodType>(schema: T): T {
  let made = compiled.get(schema) as T | undefined
  if (!made) compiled.set(schema, (made = z.compile(schema)))
  return made
}

/** A schema whose checks turn the value into a `T`, which zod's own types cannot express. */
type Becomes<T> = z.ZodType<T>
type Payload = z.core.ParsePayload

/**
 * Notes a problem. Called from `check`, because `superRefine` and `transform` leave garbage that caused
 * a third of the collector's work under load (docs/decisions/performance.md).
 */
function note({ issues, value }: Payload, message: string, path: PropertyKey[] = []): void {
  issues.push({ code: 'custom', message, path, input: value })
}

function problemCheck(problemOf: (text: string) => string | undefined) {
  return (payload: z.core.ParsePayload<string>): void => {
    const message = problemOf(payload.value)
    if (message !== undefined) note(payload, message)
  }
}

/** @param text cleaned; undefined when it was none */
function tagProblem(text: string | undefined): string | undefined {
  if (text === undefined) return 'A tag must be text.'
  if (text.length <= limits.tagCharactersMax) return undefined
  return `A tag is too long: at most ${limits.tagCharactersMax} characters.`
}

/** Cleaned text with a limit in UTF-16 units (zod's own `max` counts code points). */
function line(field: string, charactersMax: number) {
  return z
    .string(`The ${field} must be given once, as text.`)
    .overwrite(cleanText)
    .refine((text) => text.length <= charactersMax, {
      error: `The ${field} is too long: at most ${charactersMax} characters.`,
    })
    .meta({ maxLength: charactersMax })
}

function emailTypeMessage(input: unknown): string {
  if (input === undefined || input === null) return 'The email address is missing.'
  return Array.isArray(input) ? 'Give one email address only.' : 'The email address must be text.'
}
