import { digits } from '../../platform/digits.ts'
import { isRecord } from '../../signup/json.ts'
import {
  checked,
  described,
  either,
  given,
  type Kind,
  listOf,
  object,
  orNull,
  record,
  text,
  type Value,
} from '../kind.ts'
import { receiverUrl } from '../secret-values.ts'
import { bySitePath, type SiteSettings } from '../setting-values.ts'
import { type secretPrefixes, settings } from '../settings.ts'
import { fieldsKind } from './field-schema.ts'

/**
 * The file that `ROLLCALL_CONFIG` names, described once: from here come how it is read, the JSON Schema
 * (`config.schema.json`) and the suggestions for misspelt keys.
 */

/** What a site, or a part of it, may have in the place of settings. */
function members<Under extends keyof SiteSettings>(under: Under) {
  const kinds = bySitePath(under, (name) => {
    const { kind, meaning } = settings[name]
    return described<unknown>(kind, `${meaning.replaceAll('`', '')} Otherwise as ${name}.`)
  })
  type Settings = SiteSettings[Under]
  return kinds as { readonly [Key in keyof Settings]: Kind<NonNullable<Settings[Key]>> }
}

/** The name of a variable that has a secret of the site. */
function variableOf(prefix: (typeof secretPrefixes)[number], what: string) {
  const form = new RegExp(`^${prefix}[A-Z0-9_]{0,60}$`)
  return described(
    text(
      `the name of a variable that begins with ${prefix}: ${prefix}_LAUNCH, say`,
      (it) => (form.test(it) ? it : undefined),
      `Put the ${what} into a variable of the environment, and write the name of the variable here.`,
      { pattern: form.source, examples: [`${prefix}_LAUNCH`] },
    ),
    `The variable of the environment that has the ${what}.`,
  )
}

const challenge = checked(
  object({
    ...members('challenge.'),
    siteKey: described(given('a text'), 'The site key of the challenge, which is public.'),
    secretKeyVariable: variableOf('CHALLENGE_SECRET_KEY', 'secret key of the same site'),
  }),
  (said, note) => {
    if (!isRecord(said) || said['provider'] === 'altcha') return
    const missing = keysOfProvider.filter((key) => said[key] === undefined)
    for (const key of missing) note({ problem: 'is missing.', expected: 'a text' }, key)
  },
)

const keysOfProvider = ['siteKey', 'secretKeyVariable']

const webhook = object(
  {
    url: described(
      receiverUrl,
      'Where the messages go: a URL of HTTPS, or of HTTP in the own network.',
    ),
    secretVariable: variableOf('WEBHOOK_SECRET', 'secret of a webhook, as WEBHOOK_SECRET says'),
  },
  ['url', 'secretVariable'],
)

const webhooksMax = 5

const webhooks = checked(listOf(webhook, [0, webhooksMax]), (_, note, all = []) => {
  const urls = all.map(({ url }) => url)
  const again = urls.findIndex((url, at) => url !== undefined && urls.indexOf(url) < at)
  const problem = 'is the URL of another webhook of this site.'
  if (again !== -1)
    note({ problem, expected: 'another URL: each gets every message once' }, again, 'url')
})

/** One site. What it leaves out comes from the environment. */
export const siteKind = object({
  ...members(''),
  challenge: described(
    challenge,
    'The bot challenge. Otherwise as the CHALLENGE_ settings say. Every provider but altcha needs both keys.',
    {
      anyOf: [
        { required: keysOfProvider },
        { required: ['provider'], properties: { provider: { const: 'altcha' } } },
      ],
    },
  ),
  closing: described(
    object(members('closing.')),
    'When it closes, and how many seats it has. What is left out is as CLOSES_AT, CLOSES_AFTER and OVERFLOW_TAB say.',
  ),
  page: described(
    object(members('page.')),
    'How the pages look. What is left out is as the PAGE_ settings say.',
  ),
  spam: described(
    object(members('spam.')),
    'What looks like spam, and what becomes of it. Otherwise as the SPAM_ settings say.',
  ),
  mail: described(
    object({
      ...members('mail.'),
      welcome: described(
        either(settings.WELCOME_MAIL.kind, object(members('mail.welcome.'))),
        'Whether there is a welcome mail, or what it says. Otherwise as WELCOME_MAIL.',
      ),
    }),
    'What mails to visitors say. Otherwise as the MAIL_ and WELCOME_ settings say.',
  ),
  webhooks: described(
    webhooks,
    'Who is told of each signup. Otherwise as WEBHOOK_URL and WEBHOOK_SECRET say; [] for nobody.',
  ),
  chatVariable: described(
    orNull(variableOf('CHAT_URL', 'URL of a channel')),
    'The variable of the environment that has the URL of a channel. Otherwise as CHAT_URL says; null for none.',
  ),
  fields: fieldsKind,
})

export type DeclaredSite = Value<typeof siteKind>

const siteNamePattern = /^[a-z][a-z0-9-]{0,39}$/

const siteName = text(
  'the name of a site: a small letter, and then small letters, digits and -, up to 40 characters',
  (it) => (siteNamePattern.test(it) ? it : undefined),
  'Choose such a name: URLs carry it, as in /?site=launch.',
  { pattern: siteNamePattern.source },
)

const sitesMax = 1_000

export const fileKind = object(
  {
    $schema: described(given('a text'), 'Where this schema is, for editors.'),
    sites: described(
      record(siteName, siteKind, `1 to ${digits(sitesMax)} sites: by their names`, [1, sitesMax]),
      'The sites by their names.',
    ),
  },
  ['sites'],
)

/** The JSON Schema (draft 2020-12) of the whole file. */
export function configJsonSchema(): object {
  const $schema = 'https://json-schema.org/draft/2020-12/schema'
  return { title: 'Sites and fields of Rollcall', $schema, ...fileKind.schema }
}
