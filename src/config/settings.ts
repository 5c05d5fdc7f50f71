import { languages } from '../signup/languages.ts'
import { privateKey } from './google-key/private-key.ts'
import { given, type Kind, line, lines, oneOf, siteText, text, wholeNumber } from './kinds.ts'
import { apiKeys, challengeHosts, emailDomains, origins, ownHosts, tabList } from './lists.ts'
import {
  bearerToken,
  emailAddress,
  filePath,
  httpUrl,
  listenHost,
  mailbox,
  mailFrom,
  mailUrl,
  publicUrl,
  receiverUrl,
  retentionDays,
  spreadsheetId,
  tabName,
  webhookSecrets,
} from './values.ts'
import { color, consent, logoUrl, webAddress } from './pages.ts'

/**
 * The table of all settings, a row a setting. All else comes from it: how variables are read, what sites may
 * have of their own, the JSON Schema of their file, the names that are known, `docs/configuration.md` and
 * `.env.example` (`node scripts/configuration-docs.ts`).
 */
export interface Setting {
  /** The heading over it in documents; those of one group stand together, and the first has it. */
  readonly group?: string
  /** What it does, as sentences for people. */
  readonly meaning: string
  readonly kind: Kind<unknown>
  /** The value when the setting is unset, as it would be written in the environment. */
  readonly default?: string
  readonly example: string
  /** Whether the value must never be printed. */
  readonly secret?: true
  /** Its name in `Config`, if it stands there as it is read. */
  readonly instance?: string
  /** Its name in `SiteConfig` and in the file of sites, if a site may have its own. */
  readonly site?: string
}

export const challengeProviders = ['turnstile', 'hcaptcha', 'recaptcha', 'altcha'] as const

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

export const settings = {
  SHEETS_SHEET_ID: {
    group: 'Google Sheets',
    meaning:
      'The spreadsheet that gets the rows: the id in its URL after `/spreadsheets/d/`, or the whole URL.',
    kind: text(spreadsheetId),
    example:
      'https://docs.google.com/spreadsheets/d/1AbCdEfGhIjKlMnOpQrStUvWxYz0123456789-_AbCdE/edit',
  },
  SHEETS_CREDENTIALS_EMAIL: {
    meaning:
      'Email address of the service account. Not needed when `SHEETS_PRIVATE_KEY` holds the whole JSON key file.',
    kind: text(emailAddress),
    example: 'rollcall@my-project.iam.gserviceaccount.com',
  },
  SHEETS_PRIVATE_KEY: {
    meaning:
      'Private key of the service account, in any form: quoted or not, real line breaks or `\\n`, base64, or the whole JSON key file.',
    kind: text(privateKey),
    example: '"-----BEGIN PRIVATE KEY-----\\nMIIE...\\n-----END PRIVATE KEY-----\\n"',
    secret: true,
  },
  SHEETS_CREDENTIALS_FILE: {
    meaning:
      'Path of the JSON key file, instead of `SHEETS_CREDENTIALS_EMAIL` and `SHEETS_PRIVATE_KEY`.',
    kind: text(filePath),
    example: './service-account.json',
  },
  GOOGLE_APPLICATION_CREDENTIALS: {
    meaning:
      'Path of the JSON key file, under the name that Google’s own tools read. Used when `SHEETS_SHEET_ID` is set and the three settings above are not.',
    kind: text(filePath),
    example: '/etc/rollcall/service-account.json',
  },
  SHEETS_REQUESTS_PER_MINUTE: {
    meaning: 'The most calls to the Sheets API, reads and writes together, in any 60 seconds.',
    kind: wholeNumber(1, 3_000),
    default: '50',
    example: '50',
  },
  SHEETS_REQUESTS_PER_DAY: {
    meaning: 'The most calls to the Sheets API in any 24 hours.',
    kind: wholeNumber(1, 1_000_000),
    default: '10000',
    example: '10000',
  },
  SHEETS_API_URL: {
    meaning:
      'URL of the Sheets API, for a proxy or an emulator. With `http://`, access tokens travel unencrypted.',
    kind: text(httpUrl),
    default: 'https://sheets.googleapis.com',
    example: 'http://127.0.0.1:8080',
  },
  SHEETS_TOKEN_URL: {
    meaning:
      'URL that issues access tokens, for a proxy or an emulator. With `http://`, they travel unencrypted.',
    kind: text(httpUrl),
    default: 'https://oauth2.googleapis.com/token',
    example: 'http://127.0.0.1:8080/token',
  },
  DEFAULT_SHEET_TAB: {
    group: 'Tabs',
    site: 'defaultTab',
    meaning:
      'Tab for signups that name no tab: 1 to 100 characters. If it is unset and the Google spreadsheet has only one tab, which is empty, Rollcall uses that tab, whatever its name.',
    kind: text(tabName),
    default: 'Sheet1',
    example: 'Signups',
  },
  SHEET_TABS: {
    site: 'tabs',
    meaning:
      'The only tabs that signups may name besides the default tab. Recommended on the public internet: otherwise anybody can make new tabs, up to `MAX_SHEET_TABS`.',
    kind: tabList,
    example: 'Newsletter,Waitlist',
  },
  MAX_SHEET_TABS: {
    site: 'maxTabs',
    meaning:
      'How many new tabs signups may make. One client address may make 10 an hour. The default tab and the tabs of `SHEET_TABS` do not count.',
    kind: wholeNumber(0, 10_000),
    default: '100',
    example: '20',
  },
  DATA_DIR: {
    group: 'Storage',
    instance: 'dataDir',
    meaning:
      'Folder of the journal and of the local workbook. Rollcall makes it if it is missing. Only one service can use it at a time.',
    kind: text(filePath),
    default: './data',
    example: '/var/lib/rollcall',
  },
  DATABASE_URL: {
    meaning:
      'URL of a PostgreSQL database (15 or newer) for the journal, so that several instances share it (docs/scaling.md). `DATA_DIR` is not used then. Needs a Google Sheet.',
    kind: given,
    example: 'postgres://rollcall:password@db.example.com/rollcall?sslmode=verify-full',
    secret: true,
  },
  RETENTION_DAYS: {
    instance: 'retentionDays',
    meaning:
      'For how many days after its row was written the journal keeps what a signup says: 2 to 36,500; 0 for ever. The spreadsheet keeps the row.',
    kind: text(retentionDays),
    default: '0',
    example: '90',
  },
  HOST: {
    group: 'HTTP server',
    instance: 'host',
    meaning:
      'Address to listen on: `0.0.0.0` for every network, `127.0.0.1` for this machine only.',
    kind: text(listenHost),
    default: '0.0.0.0',
    example: '127.0.0.1',
  },
  PORT: {
    instance: 'port',
    meaning: 'Port to listen on. With 0, Rollcall picks a free port and prints it.',
    kind: wholeNumber(0, 65_535),
    default: '3000',
    example: '8080',
  },
  BODY_LIMIT_BYTES: {
    instance: 'bodyBytesMax',
    meaning: 'The most bytes of a request body.',
    kind: wholeNumber(1_024, 16_777_216),
    default: '1048576',
    example: '65536',
  },
  TRUST_PROXY: {
    instance: 'trustedProxies',
    meaning:
      'How many proxies stand in front of the service. Rollcall uses the client address that the first of them wrote into `X-Forwarded-For`.',
    kind: wholeNumber(0, 10),
    default: '0',
    example: '1',
  },
  PAGE_TITLE: {
    group: 'Pages',
    site: 'page.title',
    meaning: 'Heading of the signup page `/`.',
    kind: siteText(line(100)),
    example: 'The Rollcall letter',
  },
  PAGE_TEXT: {
    site: 'page.text',
    meaning: 'A line under the heading.',
    kind: siteText(line(300)),
    example: 'One short mail a month. No noise.',
  },
  PAGE_BUTTON: {
    site: 'page.button',
    meaning: 'Text of the button, also on the bare form.',
    kind: siteText(line(60)),
    example: 'Count me in',
  },
  PAGE_ACCENT: {
    site: 'page.accent',
    meaning:
      'Colour of the button, as `#rgb` or `#rrggbb`. If it would be hard to read, the pages show it lighter or darker.',
    kind: text(color),
    example: '"#0a7a4b"',
  },
  PAGE_LOGO_URL: {
    site: 'page.logoUrl',
    meaning: 'URL of a picture above the heading, with `https://`.',
    kind: text(logoUrl),
    example: 'https://example.com/logo.svg',
  },
  PAGE_THANKS: {
    site: 'page.thanks',
    meaning: 'A text below the thanks for a signup, on the pages and in the embed.',
    kind: siteText(line(300)),
    example: 'The first letter comes on Sunday.',
  },
  PAGE_NEXT_URL: {
    site: 'page.next',
    meaning:
      'Address of a page, with `https://` or `http://`: below the thanks, a link leads there.',
    kind: text(webAddress),
    example: 'https://example.com/welcome',
  },
  PAGE_CONFIRMED_NEXT_URL: {
    site: 'page.confirmedNext',
    meaning:
      'Address of a page, with `https://` or `http://`, to which visitors go when they have confirmed, instead of our thanks.',
    kind: text(webAddress),
    example: 'https://example.com/confirmed',
  },
  PAGE_LANGUAGE: {
    site: 'page.language',
    meaning:
      'Language of the texts above, and of the pages for visitors whose browser asks for none of `en de fr es pt it nl pl tr ar hi ja ko zh`. Unset: English.',
    kind: oneOf(languages),
    example: 'de',
  },
  PAGE_CONSENT: {
    site: 'page.consent',
    meaning:
      'Text of a checkbox that visitors must tick, also on the bare form and in the embed: up to 1,000 characters; `[words](https://…)` is a link. The text that a visitor agreed to goes into Metadata as `consent`.',
    kind: siteText(text(consent)),
    example: 'I have read the [privacy policy](https://example.com/privacy) and agree to it.',
  },
  PAGE_NAME: {
    site: 'page.name',
    meaning: 'Whether the pages ask for a name: `off`, `optional` or `required`.',
    kind: oneOf(['off', 'optional', 'required']),
    default: 'off',
    example: 'optional',
  },
  CHALLENGE_SITE_KEY: {
    group: 'Bot challenge',
    meaning:
      'Site key of the challenge, which is public. The challenge is on when both keys are set, and off when neither is. `altcha` needs none.',
    kind: given,
    example: '1x00000000000000000000AA',
  },
  CHALLENGE_SECRET_KEY: {
    meaning:
      'Secret key of the same site. With a provider’s test key, everybody passes, or nobody.',
    kind: given,
    example: '1x0000000000000000000000000000000AA',
    secret: true,
  },
  CHALLENGE_PROVIDER: {
    site: 'challenge.provider',
    meaning:
      'Provider of the challenge: `turnstile`, `hcaptcha` or `recaptcha`; or `altcha` for a proof of work, which needs no keys and no third party: it is on with this setting alone.',
    kind: oneOf(challengeProviders),
    default: 'turnstile',
    example: 'hcaptcha',
  },
  CHALLENGE_VERIFY_URL: {
    meaning:
      'URL that verifies tokens, instead of the provider’s own, also for another provider with the same protocol. Rollcall sends the secret key to it.',
    kind: text(httpUrl),
    example: 'https://challenge.example.com/siteverify',
  },
  CHALLENGE_SCRIPT_URL: {
    meaning: 'URL of the widget’s script, instead of the provider’s own.',
    kind: text(httpUrl),
    example: 'https://challenge.example.com/api.js',
  },
  CHALLENGE_HOSTNAMES: {
    site: 'challenge.hostnames',
    meaning:
      'Host names of the pages that tokens may come from; list each subdomain. Unset: every host that the provider allows.',
    kind: challengeHosts,
    example: 'example.com,www.example.com',
  },
  SPAM_FILTER: {
    group: 'Spam',
    site: 'spam.filter',
    meaning:
      'What becomes of suspect signups, those that look like spam (docs/spam.md). `log` only counts them, `quarantine` writes their rows into the tab of `SPAM_TAB`, and `off` looks at no signup.',
    kind: oneOf(['log', 'quarantine', 'off']),
    default: 'log',
    example: 'quarantine',
  },
  SPAM_TAB: {
    site: 'spam.tab',
    meaning:
      'Tab for suspect signups under `SPAM_FILTER=quarantine`. Nobody can sign up for it, so it is neither the default tab nor one of `SHEET_TABS`.',
    kind: text(tabName),
    default: 'Quarantine',
    example: 'Spam',
  },
  SPAM_DOMAINS: {
    site: 'spam.domains',
    meaning:
      'Domains that count as those of throw-away addresses, with their subdomains, besides the list that Rollcall has.',
    kind: emailDomains,
    example: 'spam.example,throw-away.example',
  },
  ALLOWED_ORIGINS: {
    group: 'Access and limits',
    site: 'origins',
    meaning:
      'Web origins whose pages may send signups and show the form in a frame; `*` allows all. The service’s own pages are always allowed.',
    kind: origins,
    default: '*',
    example: 'https://example.com,https://www.example.com',
  },
  ALLOWED_HOSTS: {
    instance: 'allowedHosts',
    meaning:
      'Hosts under which visitors reach the service, each with its port if its URL has one. When `ALLOWED_ORIGINS` names origins, only pages on these hosts count as the service’s own. Unset: pages on any host do.',
    kind: ownHosts,
    example: 'signup.example.com,localhost:3000',
  },
  API_KEYS: {
    meaning:
      'Keys that allow bulk signups, each of at least 16 characters. Unset: everybody may send bulk signups.',
    kind: apiKeys,
    example: 'a-long-random-text,another-long-random-text',
    secret: true,
  },
  ADMIN_TOKEN: {
    meaning:
      'Token of at least 16 characters for the admin page `/admin`, which exists only when this is set (docs/admin.md).',
    kind: text(bearerToken),
    example: 'a-long-random-text',
    secret: true,
  },
  METRICS_TOKEN: {
    meaning:
      'Token of at least 16 characters for `/metrics`, which exists only when this is set (docs/monitoring.md).',
    kind: text(bearerToken),
    example: 'a-long-random-text',
    secret: true,
  },
  RATE_LIMIT_PER_MINUTE: {
    site: 'signupsPerMinute',
    meaning:
      'The most signups in any 60 seconds from one client address. With 0 there is no limit.',
    kind: wholeNumber(0, 1_000_000),
    default: '60',
    example: '20',
  },
  DUPLICATES: {
    site: 'duplicates',
    meaning:
      '`append` writes a row for every signup. `ignore` writes one row for each address in a tab: a second signup of the address gets the same answer but no row, even if somebody has deleted the first row from the spreadsheet.',
    kind: oneOf(['append', 'ignore']),
    default: 'append',
    example: 'ignore',
  },
  BULK_MAX: {
    instance: 'bulkItemsMax',
    meaning: 'The most signups in one bulk request. `BODY_LIMIT_BYTES` applies, too.',
    kind: wholeNumber(1, 10_000),
    default: '1000',
    example: '200',
  },
  ROLLCALL_CONFIG: {
    group: 'Sites and fields',
    meaning:
      'Path of a JSON file with several sites, each with a spreadsheet and fields of its own, or the JSON itself (docs/sites.md).',
    kind: given,
    example: './rollcall.json',
  },
  CONFIRMATION: {
    group: 'Confirmation and mail',
    site: 'confirmation',
    meaning:
      '`mail`: a signup counts when its person has confirmed it by a link in a mail (docs/mail.md). Needs `MAIL_URL`, `MAIL_FROM` and `PUBLIC_URL`.',
    kind: oneOf(['off', 'mail']),
    default: 'off',
    example: 'mail',
  },
  CONFIRMATION_DAYS: {
    instance: 'confirmationDays',
    meaning:
      'For how many days after its mail was sent a signup can be confirmed. Then its content is erased.',
    kind: wholeNumber(1, 30),
    default: '7',
    example: '3',
  },
  MAIL_URL: {
    meaning:
      'The mail server: `smtps://USER:PASSWORD@HOST`, or `smtp://…` for STARTTLS, with `:PORT` if it is not 465 or 587. TLS is required except to this machine. User and password are percent-encoded.',
    kind: text(mailUrl),
    example: 'smtps://rollcall:password@smtp.example.com',
    secret: true,
  },
  MAIL_FROM: {
    meaning: 'The sender of all mails: `name@host`, or `Name <name@host>`.',
    kind: text(mailFrom),
    example: 'The Rollcall letter <hello@example.com>',
  },
  PUBLIC_URL: {
    meaning:
      'The URL under which visitors reach this service, for the links in mails. Use `https://`: who reads a link on its way can use it.',
    kind: text(publicUrl),
    example: 'https://signup.example.com',
  },
  MAIL_PER_HOUR: {
    meaning:
      'The most mails that go to all people together in an hour. It is a pace: mails above it wait.',
    kind: wholeNumber(1, 1_000_000),
    default: '500',
    example: '100',
  },
  MAIL_SUBJECT: {
    site: 'mail.subject',
    meaning: 'Subject of the mail that asks for the confirmation.',
    kind: siteText(line(150)),
    example: 'Please confirm your signup',
  },
  MAIL_TEXT: {
    site: 'mail.text',
    meaning:
      'What that mail says above its link. In some countries it may not have promotion in it.',
    kind: siteText(lines(2_000)),
    example: 'You asked for our letter. Please confirm that this address is yours.',
  },
  WELCOME_MAIL: {
    meaning:
      '`on`: somebody whose signup counts gets a welcome mail, with a link to leave. Needs the same settings as `CONFIRMATION=mail`. A site has `mail.welcome`: `"on"`, `"off"`, or a `subject` and a `text`.',
    kind: oneOf(['off', 'on']),
    default: 'off',
    example: 'on',
  },
  WELCOME_SUBJECT: {
    site: 'mail.welcome.subject',
    meaning: 'Subject of the welcome mail.',
    kind: siteText(line(150)),
    example: 'Welcome to the Rollcall letter',
  },
  WELCOME_TEXT: {
    site: 'mail.welcome.text',
    meaning: 'What the welcome mail says.',
    kind: siteText(lines(2_000)),
    example: 'The first letter comes on Sunday.',
  },
  OWNER_MAIL: {
    meaning:
      'Address that gets reports of what has come: figures without addresses of people. Needs the same settings as `CONFIRMATION=mail`.',
    kind: text(mailbox),
    example: 'owner@example.com',
  },
  OWNER_MAIL_WHEN: {
    meaning:
      'How often such a report may go, when there is something to tell: `daily` or `hourly`.',
    kind: oneOf(['daily', 'hourly']),
    default: 'daily',
    example: 'hourly',
  },
  WEBHOOK_URL: {
    group: 'Webhooks',
    meaning:
      'URL of HTTPS, or of HTTP on this machine or in its private network, that gets a POST for every signup (docs/webhooks.md). Needs `WEBHOOK_SECRET`, too. A site has a list, `webhooks`.',
    kind: text(receiverUrl),
    example: 'https://crm.example.com/hooks/rollcall',
    secret: true,
  },
  WEBHOOK_SECRET: {
    meaning:
      'Secret that signs these messages after Standard Webhooks: `whsec_` and then 24 to 64 bytes in base64. While it changes, the new one and the old one with a space between them.',
    kind: text(webhookSecrets),
    example: 'whsec_aZ0vSyiVtM8NdzmQkVZqIBAkMBCZnPNq',
    secret: true,
  },
  ALERT_WEBHOOK_URL: {
    group: 'Notices',
    meaning:
      'URL of HTTPS, or of HTTP on this machine or in its private network, that gets a POST when delivery has not worked for five minutes, and when it works again (docs/monitoring.md). Needs `ALERT_WEBHOOK_SECRET`, too.',
    kind: text(receiverUrl),
    example: 'https://hooks.example.com/rollcall',
    secret: true,
  },
  ALERT_WEBHOOK_SECRET: {
    meaning:
      'Secret that signs notices after Standard Webhooks: `whsec_` and then 24 to 64 bytes in base64. While it changes, the new one and the old one with a space between them.',
    kind: text(webhookSecrets),
    example: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD',
    secret: true,
  },
  LOG_LEVEL: {
    group: 'Logging',
    instance: 'logLevel',
    meaning:
      'The least serious level that is logged: `trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`.',
    kind: oneOf(logLevels),
    default: 'info',
    example: 'debug',
  },
  LOG_FORMAT: {
    instance: 'logFormat',
    meaning:
      '`text`: a line for people. `json`: a line for programs. Unset: `text` on a terminal, and `json` elsewhere. With `NO_COLOR`, text has no colours.',
    kind: oneOf(['text', 'json']),
    example: 'json',
  },
} as const satisfies Readonly<Record<string, Setting>>

type Settings = typeof settings
export type SettingName = keyof Settings
export const settingNames = Object.keys(settings) as readonly SettingName[]

/** What a setting is read as. Undefined when it has no default and is unset. */
export type ValueOf<Name extends SettingName> =
  Settings[Name]['kind'] extends Kind<infer T>
    ? Settings[Name] extends { readonly default: string }
      ? T
      : T | undefined
    : never

/** The settings that stand in `Config` as they are read. */
export type InstanceSettings = {
  readonly [
    Name in SettingName as Settings[Name] extends { readonly instance: infer Key extends string }
      ? Key
      : never
  ]: ValueOf<Name>
}

type Under<Prefix extends string> = {
  readonly [
    Name in SettingName as Settings[Name] extends {
      readonly site: `${Prefix}${infer Key}`
    }
      ? Key extends `${string}.${string}`
        ? never
        : Key
      : never
  ]: ValueOf<Name>
}

/** The settings that a site may have of its own, by the beginning of their names in it. */
export interface SiteSettings {
  readonly '': Under<''>
  readonly 'page.': Under<'page.'>
  readonly 'challenge.': Under<'challenge.'>
  readonly 'spam.': Under<'spam.'>
  readonly 'mail.': Under<'mail.'>
  readonly 'mail.welcome.': Under<'mail.welcome.'>
}

/** The settings whose names in a site begin so, each with the rest of that name. */
export function siteSettings(
  under: keyof SiteSettings,
): readonly (readonly [key: string, name: SettingName])[] {
  return settingNames.flatMap((name) => {
    const { site }: Setting = settings[name]
    const key = site?.startsWith(under) ? site.slice(under.length) : ''
    return key === '' || key.includes('.') ? [] : [[key, name] as const]
  })
}

/** How variables begin in which sites keep secrets of their own. */
export const secretPrefixes = ['CHALLENGE_SECRET_KEY', 'WEBHOOK_SECRET'] as const

/** Whether the value of a variable must never be printed. */
export function isSecret(name: string): boolean {
  if (secretPrefixes.some((prefix) => name.startsWith(prefix))) return true
  return Object.hasOwn(settings, name) && 'secret' in settings[name as SettingName]
}
