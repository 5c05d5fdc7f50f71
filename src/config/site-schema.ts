import { z } from 'zod'
import { languages } from '../signup/languages.ts'
import { challengeHost, challengeProviders } from './challenge.ts'
import { fieldsSchema } from './field-schema.ts'
import { tabsByKey } from '../signup/tab.ts'
import { originList } from './origins.ts'
import { pageParsers } from './pages.ts'
import { note, parsedBy } from './schema-parts.ts'
import { parseSpreadsheetId } from './spreadsheet-id.ts'
import { filePath, tabName } from './values.ts'

/**
 * The file that `ROLLCALL_CONFIG` names, described once: from here come its validation, the JSON Schema
 * (`config.schema.json`) and the suggestions for misspelt keys.
 */

const sitesMax = 1_000

const secretVariable = /^CHALLENGE_SECRET_KEY[A-Z0-9_]{0,60}$/

const challenge = z
  .strictObject({
    siteKey: z.string().meta({ description: 'The site key of the challenge, which is public.' }),
    secretKeyVariable: z
      .string()
      .check((payload) => {
        if (secretVariable.test(payload.value)) return
        note(payload, {
          problem: 'is not the name of a variable for a secret key.',
          expected:
            'a name that begins with CHALLENGE_SECRET_KEY, such as CHALLENGE_SECRET_KEY_LAUNCH',
          hint: 'Put the secret key into a variable of the environment, and write the name of the variable here.',
        })
      })
      .meta({
        description: 'The variable of the environment that has the secret key of the same site.',
        pattern: secretVariable.source,
        examples: ['CHALLENGE_SECRET_KEY_LAUNCH'],
      }),
    provider: z
      .enum(challengeProviders)
      .optional()
      .meta({ description: 'Otherwise as CHALLENGE_PROVIDER.' }),
    hostnames: z
      .array(parsedBy(challengeHost, 'example.com', 'The host of pages that tokens may come from.'))
      .min(1)
      .max(100)
      .optional()
      .meta({ description: 'Otherwise as CHALLENGE_HOSTNAMES.' }),
  })
  .meta({ description: 'The bot challenge. Otherwise as the CHALLENGE_ settings say.' })

const page = z
  .strictObject({
    title: parsedBy(pageParsers.title, 'The launch', 'Heading of the signup page.').optional(),
    text: parsedBy(pageParsers.text, 'One mail a month.', 'A line under the heading.').optional(),
    button: parsedBy(pageParsers.button, 'Count me in', 'Text of the button.').optional(),
    accent: parsedBy(pageParsers.accent, '#0a7a4b', 'Colour of the button.').optional(),
    logoUrl: parsedBy(
      pageParsers.logoUrl,
      'https://example.com/logo.svg',
      'A picture above the heading.',
    ).optional(),
    thanks: parsedBy(
      pageParsers.thanks,
      'We write to you in May.',
      'A text below the thanks for a signup.',
    ).optional(),
    next: parsedBy(
      pageParsers.next,
      'https://launch.example/welcome',
      'Where a link below the thanks leads.',
    ).optional(),
    language: z
      .enum(languages)
      .optional()
      .meta({ description: 'Language of these texts, and for visitors who ask for none of ours.' }),
    consent: parsedBy(
      pageParsers.consent,
      'I agree to the [terms](https://example.com/terms).',
      'Text of a checkbox that visitors must tick.',
    ).optional(),
    name: z
      .enum(['off', 'optional', 'required'])
      .optional()
      .meta({ description: 'Whether the pages ask for a name.' }),
  })
  .meta({ description: 'How the pages look. What is left out is as the PAGE_ settings say.' })

const origins = z
  .array(parsedBy(originList, 'https://launch.example', 'A web origin, or *.'))
  .min(1)
  .max(1_000)
  .check((payload) => {
    const star = payload.value.indexOf('*')
    if (star === -1 || payload.value.length === 1) return
    const hint =
      'Write ["*"] to allow every page on the web, or only the origins of your own pages.'
    const expected = 'either * alone, or web origins'
    note(payload, { problem: 'is * beside other origins.', expected, hint }, [star])
  })
  .meta({ description: 'Otherwise as ALLOWED_ORIGINS.' })

const tab = parsedBy(tabName, 'Waitlist', 'The name of a tab.')

/** One site. What it leaves out comes from the environment. */
export const siteSchema = z.strictObject({
  spreadsheet: parsedBy(
    parseSpreadsheetId,
    'https://docs.google.com/spreadsheets/d/1AbCdEfGhIjKlMnOpQrStUvWxYz0123456789-_AbCdE/edit',
    'The Google spreadsheet of this site alone: its URL or id. Otherwise as SHEETS_SHEET_ID.',
  ).optional(),
  credentialsFile: parsedBy(
    filePath,
    './launch-account.json',
    'Path of the JSON key file of the service account. Otherwise the account of the environment.',
  ).optional(),
  defaultTab: tab.optional().describe('Otherwise as DEFAULT_SHEET_TAB.'),
  tabs: z
    .array(tab)
    .min(1)
    .max(1_000)
    .overwrite((names) => [...tabsByKey(names).values()])
    .optional()
    .meta({ description: 'The only tabs that signups may name. Otherwise as SHEET_TABS.' }),
  maxTabs: z
    .int()
    .min(0)
    .max(10_000)
    .optional()
    .meta({ description: 'How many new tabs signups may make. Otherwise as MAX_SHEET_TABS.' }),
  duplicates: z
    .enum(['append', 'ignore'])
    .optional()
    .meta({ description: 'Otherwise as DUPLICATES.' }),
  origins: origins.optional(),
  challenge: challenge.optional(),
  page: page.optional(),
  signupsPerMinute: z
    .int()
    .min(0)
    .max(1_000_000)
    .optional()
    .meta({ description: 'For each client address. Otherwise as RATE_LIMIT_PER_MINUTE.' }),
  fields: fieldsSchema.optional(),
})

/** A site of the file, its values parsed. */
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
  return z.strictObject({
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

/** The keys of the objects in the file, by the key of the object; `''` is the file itself. */
export const knownKeys = {
  '': ['$schema', 'sites'],
  site: Object.keys(siteSchema.shape),
  challenge: Object.keys(challenge.shape),
  page: Object.keys(page.shape),
} as const
