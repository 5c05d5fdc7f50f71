import { z } from 'zod'
import { fieldsSchema } from './field-schema.ts'
import type { SettingRefusal } from '../refusal.ts'
import { closedObject, note, parsedBy } from '../schema-parts.ts'
import {
  type secretPrefixes,
  type Setting,
  type SettingName,
  settings,
  siteSettings,
  type SiteSettings,
  type ValueOf,
} from '../settings.ts'
import { receiverUrl } from '../values.ts'

/**
 * The file that `ROLLCALL_CONFIG` names, described once: from here come its validation, the JSON Schema
 * (`config.schema.json`) and the suggestions for misspelt keys.
 */

const sitesMax = 1_000

/** The name of a variable that has a secret of the site. */
function variableOf(prefix: (typeof secretPrefixes)[number], what: string, description: string) {
  const form = new RegExp(`^${prefix}[A-Z0-9_]{0,60}$`)
  const example = `${prefix}_LAUNCH`
  return z
    .string()
    .check((payload) => {
      if (form.test(payload.value)) return
      note(payload, {
        problem: `is not the name of a variable for a ${what}.`,
        expected: `a name that begins with ${prefix}, such as ${example}`,
        hint: `Put the ${what} into a variable of the environment, and write the name of the variable here.`,
      })
    })
    .meta({ description, pattern: form.source, examples: [example] })
}

const keysOfProvider = ['siteKey', 'secretKeyVariable'] as const

const challenge = closedObject({
  siteKey: z
    .string()
    .optional()
    .meta({ description: 'The site key of the challenge, which is public.' }),
  secretKeyVariable: variableOf(
    'CHALLENGE_SECRET_KEY',
    'secret key',
    'The variable of the environment that has the secret key of the same site.',
  ).optional(),
  ...membersUnder('challenge.'),
})
  .check((payload) => {
    const { value } = payload
    const missing = { code: 'invalid_type', expected: 'string', input: undefined } as const
    for (const key of value.provider === 'altcha' ? [] : keysOfProvider) {
      if (value[key] === undefined) payload.issues.push({ ...missing, path: [key] })
    }
  })
  .meta({
    description:
      'The bot challenge. Otherwise as the CHALLENGE_ settings say. Every provider but altcha needs both keys.',
    anyOf: [
      { required: keysOfProvider },
      { required: ['provider'], properties: { provider: { const: 'altcha' } } },
    ],
  })

const page = closedObject(membersUnder('page.')).meta({
  description: 'How the pages look. What is left out is as the PAGE_ settings say.',
})

const spam = closedObject(membersUnder('spam.')).meta({
  description: 'What looks like spam, and what becomes of it. Otherwise as the SPAM_ settings say.',
})

const mail = closedObject({
  ...membersUnder('mail.'),
  welcome: z
    .union([z.enum(['on', 'off']), closedObject(membersUnder('mail.welcome.'))])
    .optional()
    .meta({
      description: 'Whether there is a welcome mail, or what it says. Otherwise as WELCOME_MAIL.',
    }),
}).meta({
  description: 'What mails to visitors say. Otherwise as the MAIL_ and WELCOME_ settings say.',
})

const webhooksMax = 5

const webhooks = z
  .array(
    closedObject({
      url: parsedBy(receiverUrl, settings.WEBHOOK_URL.example).meta({
        description: 'Where the messages go: a URL of HTTPS, or of HTTP in the own network.',
      }),
      secretVariable: variableOf(
        'WEBHOOK_SECRET',
        'secret of a webhook',
        'The variable of the environment that has the secret, as WEBHOOK_SECRET says.',
      ),
    }),
  )
  .max(webhooksMax)
  .check((payload) => {
    const urls = payload.value.map(({ url }) => url)
    for (const [at, url] of urls.entries())
      if (urls.indexOf(url) < at) note(payload, takenUrl, [at, 'url'])
  })
  .meta({
    description:
      'Who is told of each signup. Otherwise as WEBHOOK_URL and WEBHOOK_SECRET say; [] for nobody.',
  })

const takenUrl: SettingRefusal = {
  problem: 'is the URL of another webhook of this site.',
  expected: 'another URL',
  hint: 'Remove one of the two: each URL gets every message once.',
}

/** One site. What it leaves out comes from the environment. */
export const siteSchema = closedObject({
  spreadsheet: memberOf('SHEETS_SHEET_ID'),
  credentialsFile: memberOf('SHEETS_CREDENTIALS_FILE'),
  ...membersUnder(''),
  challenge: challenge.optional(),
  page: page.optional(),
  spam: spam.optional(),
  mail: mail.optional(),
  webhooks: webhooks.optional(),
  fields: fieldsSchema.optional(),
})

/** What a site may have in the place of this setting. */
function memberOf<Name extends SettingName>(name: Name) {
  const { kind, meaning, example }: Setting = settings[name]
  const description = `${meaning.replaceAll('`', '')} Otherwise as ${name}.`
  const schema = kind.json(example).optional().meta({ description })
  return schema as z.ZodOptional<z.ZodType<NonNullable<ValueOf<Name>>>>
}

/** What a site, or a part of it, may have in the place of settings. */
function membersUnder<Under extends keyof SiteSettings>(under: Under) {
  const members = siteSettings(under).map(([key, name]) => [key, memberOf(name)] as const)
  type Settings = SiteSettings[Under]
  return Object.fromEntries(members) as {
    [Key in keyof Settings]: z.ZodOptional<z.ZodType<NonNullable<Settings[Key]>>>
  }
}

export type DeclaredSite = z.output<typeof siteSchema>

const siteNamePattern = /^[a-z][a-z0-9-]{0,39}$/

export const siteNameSchema = z
  .string()
  .check((payload) => {
    if (siteNamePattern.test(payload.value)) return
    note(payload, {
      problem: 'is not a name that a site can have.',
      expected: 'a small letter, and then small letters, digits and -: up to 40 characters',
      hint: 'Choose such a name: URLs carry it, as in /?site=launch.',
    })
  })
  .meta({ pattern: siteNamePattern.source })

/** The file, with names and sites of this description. */
function fileSchemaOf<K extends z.core.$ZodRecordKey, T extends z.ZodType>(name: K, site: T) {
  return closedObject({
    $schema: z.string().optional().meta({ description: 'Where this schema is, for editors.' }),
    sites: z
      .record(name, site)
      .check((payload) => {
        const count = Object.keys(payload.value).length
        if (count >= 1 && count <= sitesMax) return
        note(payload, {
          problem: count === 0 ? 'names no site.' : 'names too many sites.',
          expected: `1 to ${sitesMax.toLocaleString('en-US')} sites`,
          hint: 'docs/sites.md has an example.',
        })
      })
      .meta({
        description: 'The sites by their names.',
        minProperties: 1,
        maxProperties: sitesMax,
      }),
  })
}

/** The file around its sites, which are read one by one. */
export const fileSchema = fileSchemaOf(z.string(), z.unknown())

/** The JSON Schema (draft 2020-12) of the whole file. */
export function configJsonSchema(): object {
  const schema = fileSchemaOf(siteNameSchema, siteSchema)
  return { title: 'Sites and fields of Rollcall', ...z.toJSONSchema(schema, { io: 'input' }) }
}
