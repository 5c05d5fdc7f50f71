import { providerNames } from '../challenge/providers.ts'
import { languages } from '../signup/languages.ts'
import { privateKey } from './google-key/private-key.ts'
import { given, oneOf, wholeNumber } from './kind.ts'
import { chatKinds } from '../platform/chat-kind.ts'
import { apiKeys, challengeHosts, emailDomains, origins, ownHosts, tabList } from './lists.ts'
import { mailbox, mailFrom, mailUrl } from './mail-values.ts'
import { color, consent, logoUrl, webAddress } from './pages.ts'
import {
  bearerToken,
  channelUrl,
  exampleSecrets,
  receiverUrl,
  webhookSecrets,
} from './secret-values.ts'
import { type Setting, setting } from './setting.ts'
import { line, lines, siteText } from './texts.ts'
import { emailAddress, filePath, httpUrl, listenHost, proxyCount, publicUrl } from './values.ts'
import { moment, retentionDays, spreadsheetId, tabName } from './values.ts'

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

/**
 * The table of all settings, a row a setting. All else comes from it: how variables are read, what sites may
 * have of their own, the JSON Schema of their file, the names that are known, `docs/configuration.md` and
 * `.env.example` (`node scripts/configuration-docs.ts`).
 */
export const settings = {
  SHEETS_SHEET_ID: setting(
    {
      kind: spreadsheetId,
      site: 'spreadsheet',
      example:
        'https://docs.google.com/spreadsheets/d/1AbCdEfGhIjKlMnOpQrStUvWxYz0123456789-_AbCdE/edit',
    },
    'The spreadsheet that gets the rows: the id in its URL after `/spreadsheets/d/`, or the whole URL.',
  ),
  SHEETS_CREDENTIALS_EMAIL: setting(
    { kind: emailAddress, example: 'rollcall@my-project.iam.gserviceaccount.com' },
    'Email address of the service account. Not needed when `SHEETS_PRIVATE_KEY` holds the whole JSON key file.',
  ),
  SHEETS_PRIVATE_KEY: setting(
    {
      kind: privateKey,
      example: '"-----BEGIN PRIVATE KEY-----\\nMIIE...\\n-----END PRIVATE KEY-----\\n"',
      secret: true,
    },
    'Private key of the service account, in any form: quoted or not, real line breaks or `\\n`, base64, or the whole JSON key file.',
  ),
  SHEETS_CREDENTIALS_FILE: setting(
    { kind: filePath, site: 'credentialsFile', example: './service-account.json' },
    'Path of a credentials file of Google, instead of `SHEETS_CREDENTIALS_EMAIL` and `SHEETS_PRIVATE_KEY`: the JSON key file, workload identity (`external_account`), an impersonated service account, or a person (`authorized_user`).',
  ),
  GOOGLE_APPLICATION_CREDENTIALS: setting(
    { kind: filePath, example: '/etc/rollcall/service-account.json' },
    'The same under the name that Google’s own tools read. Used when `SHEETS_SHEET_ID` is set and the three settings above are not.',
  ),
  SHEETS_SIGN_IN: setting(
    {
      kind: oneOf(['key', 'application-default']),
      site: 'signIn',
      default: 'key',
      example: 'application-default',
    },
    '`key`: by the settings above. `application-default`: by what the machine has, without a key: the metadata server of Cloud Run, GCE or GKE, or the file of `gcloud auth application-default login` (docs/google-setup.md).',
  ),
  SHEETS_SUBJECT: setting(
    { kind: mailbox, site: 'subject', example: 'signups@example.com' },
    'The person of your domain as whom a service account acts with its key (domain-wide delegation), where a spreadsheet may not be shared with it.',
  ),
  SHEETS_REQUESTS_PER_MINUTE: setting(
    { kind: wholeNumber(1, 3_000), default: '50', example: '50' },
    'The most calls to the Sheets API, reads and writes together, in any 60 seconds.',
  ),
  SHEETS_REQUESTS_PER_DAY: setting(
    { kind: wholeNumber(1, 1_000_000), default: '10000', example: '10000' },
    'The most calls to the Sheets API in any 24 hours.',
  ),
  SHEETS_API_URL: setting(
    { kind: httpUrl, default: 'https://sheets.googleapis.com', example: 'http://127.0.0.1:8080' },
    'URL of the Sheets API, for a proxy or an emulator. With `http://`, access tokens travel unencrypted.',
  ),
  SHEETS_TOKEN_URL: setting(
    {
      kind: httpUrl,
      default: 'https://oauth2.googleapis.com/token',
      example: 'http://127.0.0.1:8080/token',
    },
    'URL that issues access tokens, for a proxy or an emulator. With `http://`, they travel unencrypted.',
  ),
  DEFAULT_SHEET_TAB: setting(
    { kind: tabName, site: 'defaultTab', default: 'Sheet1', example: 'Signups' },
    'Tab for signups that name no tab: 1 to 100 characters. It is made when it is missing.',
  ),
  SHEET_TABS: setting(
    { kind: tabList, site: 'tabs', example: 'Newsletter,Waitlist' },
    'The only tabs that signups may name besides the default tab. Recommended on the public internet: otherwise anybody can make new tabs, up to `MAX_SHEET_TABS`.',
  ),
  MAX_SHEET_TABS: setting(
    { kind: wholeNumber(0, 10_000), site: 'maxTabs', default: '100', example: '20' },
    'How many new tabs signups may make. One client address may make 10 an hour. The default tab and the tabs of `SHEET_TABS` do not count.',
  ),
  CLOSES_AT: setting(
    { kind: moment, site: 'closing.at', example: '2026-12-01T18:00:00Z' },
    'From when on no signup is taken: a time in ISO 8601 with its zone. Who was asked by a mail before can still confirm.',
  ),
  CLOSES_AFTER: setting(
    { kind: wholeNumber(1, 10_000_000), site: 'closing.after', example: '50' },
    'How many signups get a seat, of all that ever counted. Later ones go to `OVERFLOW_TAB`, or are refused without one. Commands and releases from quarantine may go beyond.',
  ),
  OVERFLOW_TAB: setting(
    { kind: tabName, site: 'closing.overflowTab', example: 'Waiting list' },
    'Tab for signups that come when all seats are taken. No signup can name it, and it takes no seat.',
  ),
  DATA_DIR: setting(
    { kind: filePath, instance: 'dataDir', default: './data', example: '/var/lib/rollcall' },
    'Folder of the journal and of the local workbook. Rollcall makes it if it is missing. Only one service can use it at a time.',
  ),
  DATABASE_URL: setting(
    {
      kind: given('the URL of a PostgreSQL database'),
      example: 'postgres://rollcall:password@db.example.com/rollcall?sslmode=verify-full',
      secret: true,
    },
    'URL of a PostgreSQL database (15 or newer) for the journal, so that several instances share it (docs/scaling.md). `DATA_DIR` is not used then. Needs a Google Sheet.',
  ),
  RETENTION_DAYS: setting(
    { kind: retentionDays, instance: 'retentionDays', default: '0', example: '90' },
    'For how many days after its row was written the journal keeps what a signup says: 2 to 36,500; 0 for ever. The spreadsheet keeps the row.',
  ),
  HOST: setting(
    { kind: listenHost, instance: 'host', default: '0.0.0.0', example: '127.0.0.1' },
    'Address to listen on: `0.0.0.0` for every network, `127.0.0.1` for this machine only.',
  ),
  PORT: setting(
    { kind: wholeNumber(0, 65_535), instance: 'port', default: '3000', example: '8080' },
    'Port to listen on. With 0, Rollcall picks a free port and prints it.',
  ),
  BODY_LIMIT_BYTES: setting(
    {
      kind: wholeNumber(1_024, 16_777_216),
      instance: 'bodyBytesMax',
      default: '1048576',
      example: '65536',
    },
    'The most bytes of a request body.',
  ),
  TRUST_PROXY: setting(
    { kind: proxyCount, instance: 'trustedProxies', default: '0', example: '1' },
    'How many proxies stand in front of the service. Rollcall uses the client address that the first of them wrote into `X-Forwarded-For`.',
  ),
  PAGE_TITLE: setting(
    { kind: siteText(line(100)), site: 'page.title', example: 'The Rollcall letter' },
    'Heading of the signup page `/`.',
  ),
  PAGE_TEXT: setting(
    { kind: siteText(line(300)), site: 'page.text', example: 'One short mail a month. No noise.' },
    'A line under the heading.',
  ),
  PAGE_BUTTON: setting(
    { kind: siteText(line(60)), site: 'page.button', example: 'Count me in' },
    'Text of the button, also on the form in a frame.',
  ),
  PAGE_ACCENT: setting(
    { kind: color, site: 'page.accent', example: '"#0a7a4b"' },
    'Colour of the button, as `#rgb` or `#rrggbb`. If it would be hard to read, the pages show it lighter or darker.',
  ),
  PAGE_LOGO_URL: setting(
    { kind: logoUrl, site: 'page.logoUrl', example: 'https://example.com/logo.svg' },
    'URL of a picture above the heading, with `https://`.',
  ),
  PAGE_THANKS: setting(
    {
      kind: siteText(line(300)),
      site: 'page.thanks',
      example: 'The first letter comes on Sunday.',
    },
    'A text below the thanks for a signup, on the pages and in the embed.',
  ),
  PAGE_OVERFLOW: setting(
    { kind: siteText(line(300)), site: 'page.overflow', example: 'Full! Join our waiting list.' },
    'A text above the form when signups go to `OVERFLOW_TAB`, in the place of ours.',
  ),
  PAGE_CLOSED: setting(
    { kind: siteText(line(300)), site: 'page.closed', example: 'See you in spring.' },
    'A text in the place of the form when signups are closed.',
  ),
  PAGE_NEXT_URL: setting(
    { kind: webAddress, site: 'page.next', example: 'https://example.com/welcome' },
    'Address of a page, with `https://` or `http://`: below the thanks, a link leads there.',
  ),
  PAGE_CONFIRMED_NEXT_URL: setting(
    { kind: webAddress, site: 'page.confirmedNext', example: 'https://example.com/confirmed' },
    'Address of a page, with `https://` or `http://`, to which visitors go when they have confirmed, instead of our thanks.',
  ),
  PAGE_LANGUAGE: setting(
    { kind: oneOf(languages), site: 'page.language', example: 'de' },
    'Language of the texts above, and of the pages for visitors whose browser asks for none of `en de fr es pt it nl pl tr ar hi ja ko zh`. Unset: English.',
  ),
  PAGE_CONSENT: setting(
    {
      kind: siteText(consent),
      site: 'page.consent',
      example: 'I have read the [privacy policy](https://example.com/privacy) and agree to it.',
    },
    'Text of a checkbox that visitors must tick, also on the form in a frame and in the embed: up to 1,000 characters; `[words](https://…)` is a link. The text that a visitor agreed to goes into Metadata as `consent`.',
  ),
  PAGE_NAME: setting(
    {
      kind: oneOf(['off', 'optional', 'required']),
      site: 'page.name',
      default: 'off',
      example: 'optional',
    },
    'Whether the pages ask for a name: `off`, `optional` or `required`.',
  ),
  CHALLENGE_SITE_KEY: setting(
    {
      kind: given('the site key of the challenge, which is public'),
      site: 'challenge.siteKey',
      example: '1x00000000000000000000AA',
    },
    'Site key of the challenge, which is public. The challenge is on when both keys are set, and off when neither is. `altcha` needs none.',
  ),
  CHALLENGE_SECRET_KEY: setting(
    {
      kind: given('the secret key of the same site'),
      example: '1x0000000000000000000000000000000AA',
      secret: true,
    },
    'Secret key of the same site. With a provider’s test key, everybody passes, or nobody.',
  ),
  CHALLENGE_PROVIDER: setting(
    {
      kind: oneOf([...providerNames, 'altcha']),
      site: 'challenge.provider',
      default: 'turnstile',
      example: 'hcaptcha',
    },
    'Provider of the challenge: `turnstile`, `hcaptcha` or `recaptcha`; or `altcha` for a proof of work, which needs no keys and no third party: it is on with this setting alone.',
  ),
  CHALLENGE_VERIFY_URL: setting(
    { kind: httpUrl, example: 'https://challenge.example.com/siteverify' },
    'URL that verifies tokens, instead of the provider’s own, also for another provider with the same protocol. Rollcall sends the secret key to it.',
  ),
  CHALLENGE_SCRIPT_URL: setting(
    { kind: httpUrl, example: 'https://challenge.example.com/api.js' },
    'URL of the widget’s script, instead of the provider’s own.',
  ),
  CHALLENGE_HOSTNAMES: setting(
    { kind: challengeHosts, site: 'challenge.hostnames', example: 'example.com,www.example.com' },
    'Host names of the pages that tokens may come from; list each subdomain. Unset: every host that the provider allows.',
  ),
  SPAM_FILTER: setting(
    {
      kind: oneOf(['log', 'quarantine', 'off']),
      site: 'spam.filter',
      default: 'log',
      example: 'quarantine',
    },
    'What becomes of signups that look like spam (docs/spam.md). `log` only counts them, `quarantine` holds them until you release them, and `off` looks at no signup.',
  ),
  SPAM_DOMAINS: setting(
    { kind: emailDomains, site: 'spam.domains', example: 'spam.example,throw-away.example' },
    'Domains that count as those of throw-away addresses, with their subdomains, besides the list that Rollcall has.',
  ),
  ALLOWED_ORIGINS: setting(
    {
      kind: origins,
      site: 'origins',
      default: '*',
      example: 'https://example.com,https://www.example.com',
    },
    'Web origins whose pages may send signups and show the form in a frame; `*` allows all. The service’s own pages are always allowed. With commas between them.',
  ),
  ALLOWED_HOSTS: setting(
    { kind: ownHosts, instance: 'allowedHosts', example: 'signup.example.com,localhost:3000' },
    'Hosts under which visitors reach the service, each with its port if its URL has one. When `ALLOWED_ORIGINS` names origins, only pages on these hosts count as the service’s own. Unset: pages on any host do.',
  ),
  API_KEYS: setting(
    {
      kind: apiKeys,
      example: `${exampleSecrets.token},${exampleSecrets.otherToken}`,
      secret: true,
    },
    'Keys that allow bulk signups, each of at least 16 characters. Unset: everybody may send bulk signups.',
  ),
  ADMIN_TOKEN: setting(
    { kind: bearerToken, example: exampleSecrets.token, secret: true },
    'Token of at least 16 characters for the admin page `/admin`, which exists only when this is set (docs/admin.md).',
  ),
  METRICS_TOKEN: setting(
    { kind: bearerToken, example: exampleSecrets.token, secret: true },
    'Token of at least 16 characters for `/metrics`, which exists only when this is set (docs/operations.md).',
  ),
  RATE_LIMIT_PER_MINUTE: setting(
    { kind: wholeNumber(0, 1_000_000), site: 'signupsPerMinute', default: '60', example: '20' },
    'The most signups in any 60 seconds from one client address. With 0 there is no limit.',
  ),
  DUPLICATES: setting(
    { kind: oneOf(['append', 'ignore']), site: 'duplicates', default: 'append', example: 'ignore' },
    '`append` writes a row for every signup, `ignore` one for each address in a tab: README.md, “What one row means”.',
  ),
  BULK_MAX: setting(
    { kind: wholeNumber(1, 10_000), instance: 'bulkItemsMax', default: '1000', example: '200' },
    'The most signups in one bulk request. `BODY_LIMIT_BYTES` applies, too.',
  ),
  ROLLCALL_CONFIG: setting(
    { kind: given('the path of a JSON file, or the JSON itself'), example: './rollcall.json' },
    'Path of a JSON file with several sites, each with a spreadsheet and fields of its own, or the JSON itself (docs/sites.md).',
  ),
  CONFIRMATION: setting(
    { kind: oneOf(['off', 'mail']), site: 'confirmation', default: 'off', example: 'mail' },
    '`mail`: a signup counts when its person has confirmed it by a link in a mail (docs/mail.md). Needs `MAIL_URL`, `MAIL_FROM` and `PUBLIC_URL`.',
  ),
  CONFIRMATION_DAYS: setting(
    { kind: wholeNumber(1, 30), instance: 'confirmationDays', default: '7', example: '3' },
    'For how many days after its mail was sent a signup can be confirmed. Then its content is erased.',
  ),
  MAIL_URL: setting(
    { kind: mailUrl, example: 'smtps://rollcall:password@smtp.example.com', secret: true },
    'The mail server: `smtps://USER:PASSWORD@HOST`, or `smtp://…` for STARTTLS, with `:PORT` if it is not 465 or 587. TLS is required except to this machine. User and password are percent-encoded.',
  ),
  MAIL_FROM: setting(
    { kind: mailFrom, example: 'The Rollcall letter <hello@example.com>' },
    'The sender of all mails: `name@host`, or `Name <name@host>`.',
  ),
  PUBLIC_URL: setting(
    { kind: publicUrl, instance: 'publicUrl', example: 'https://signup.example.com' },
    'The URL under which visitors reach this service, for the links in mails and for `doctor`. Use `https://`: who reads a link on its way can use it.',
  ),
  MAIL_PER_HOUR: setting(
    { kind: wholeNumber(1, 1_000_000), default: '500', example: '100' },
    'The most mails that go to all people together in an hour. It is a pace: mails above it wait.',
  ),
  MAIL_SUBJECT: setting(
    { kind: siteText(line(150)), site: 'mail.subject', example: 'Please confirm your signup' },
    'Subject of the mail that asks for the confirmation.',
  ),
  MAIL_TEXT: setting(
    {
      kind: siteText(lines(2_000)),
      site: 'mail.text',
      example: 'You asked for our letter. Please confirm that this address is yours.',
    },
    'What that mail says above its link. In some countries it may not have promotion in it.',
  ),
  WELCOME_MAIL: setting(
    { kind: oneOf(['off', 'on']), site: 'mail.welcome', default: 'off', example: 'on' },
    '`on`: somebody whose signup counts gets a welcome mail, with a link to leave. Needs the same settings as `CONFIRMATION=mail`. A site has `mail.welcome`: `"on"`, `"off"`, or a `subject` and a `text`.',
  ),
  WELCOME_SUBJECT: setting(
    {
      kind: siteText(line(150)),
      site: 'mail.welcome.subject',
      example: 'Welcome to the Rollcall letter',
    },
    'Subject of the welcome mail.',
  ),
  WELCOME_TEXT: setting(
    {
      kind: siteText(lines(2_000)),
      site: 'mail.welcome.text',
      example: 'The first letter comes on Sunday.',
    },
    'What the welcome mail says.',
  ),
  OWNER_MAIL: setting(
    { kind: mailbox, example: 'owner@example.com' },
    'Address that gets reports of what has come: figures without addresses of people. Needs the same settings as `CONFIRMATION=mail`.',
  ),
  OWNER_MAIL_WHEN: setting(
    { kind: oneOf(['daily', 'hourly']), default: 'daily', example: 'hourly' },
    'How often such a report may go, when there is something to tell: `daily` or `hourly`.',
  ),
  WEBHOOK_URL: setting(
    { kind: receiverUrl, example: 'https://crm.example.com/hooks/rollcall', secret: true },
    'URL of HTTPS, or of HTTP on this machine or in its private network, that gets a POST for every signup (docs/webhooks.md). Needs `WEBHOOK_SECRET`, too. A site has a list, `webhooks`.',
  ),
  WEBHOOK_SECRET: setting(
    { kind: webhookSecrets, example: exampleSecrets.webhook, secret: true },
    'Secret that signs these messages after Standard Webhooks: `whsec_` and then 24 to 64 bytes in base64. While it changes, the new one and the old one with a space between them.',
  ),
  CHAT_URL: setting(
    {
      kind: channelUrl,
      example: 'https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX',
      secret: true,
    },
    'URL that posts to a channel of Slack, Discord, Mattermost, Google Chat, Microsoft Teams or Telegram: it is told who has signed up (docs/webhooks.md). A site has `chatVariable`, the name of a variable that begins with `CHAT_URL`.',
  ),
  CHAT_KIND: setting(
    { kind: oneOf(chatKinds), site: 'chatKind', example: 'mattermost' },
    'The chat program of `CHAT_URL`, where its host does not tell: `slack`, `discord`, `mattermost`, `googlechat`, `teams` or `telegram`.',
  ),
  ALERT_WEBHOOK_URL: setting(
    { kind: receiverUrl, example: 'https://hooks.example.com/rollcall', secret: true },
    'URL of HTTPS, or of HTTP on this machine or in its private network, that gets a POST when delivery has not worked for five minutes, and when it works again (docs/operations.md). Needs `ALERT_WEBHOOK_SECRET`, too.',
  ),
  ALERT_WEBHOOK_SECRET: setting(
    { kind: webhookSecrets, example: exampleSecrets.notices, secret: true },
    'Secret that signs notices after Standard Webhooks: `whsec_` and then 24 to 64 bytes in base64. While it changes, the new one and the old one with a space between them.',
  ),
  LOG_LEVEL: setting(
    { kind: oneOf(logLevels), instance: 'logLevel', default: 'info', example: 'debug' },
    'The least serious level that is logged: `trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`.',
  ),
  LOG_FORMAT: setting(
    { kind: oneOf(['text', 'json']), instance: 'logFormat', example: 'json' },
    '`text`: a line for people. `json`: a line for programs. Unset: `text` on a terminal, and `json` elsewhere. With `NO_COLOR`, text has no colours.',
  ),
} as const satisfies Readonly<Record<string, Setting>>

export type SettingName = keyof typeof settings
export const settingNames = Object.keys(settings) as readonly SettingName[]

/** How variables begin in which sites keep secrets of their own. */
export const secretPrefixes = ['CHALLENGE_SECRET_KEY', 'WEBHOOK_SECRET', 'CHAT_URL'] as const

/** Whether the value of a variable must never be printed. */
export function isSecret(name: string): boolean {
  if (secretPrefixes.some((prefix) => name.startsWith(prefix))) return true
  return Object.hasOwn(settings, name) && 'secret' in settings[name as SettingName]
}
