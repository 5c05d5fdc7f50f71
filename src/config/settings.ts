/**
 * The list of all settings. `config.ts` parses them. `docs/configuration.md` and `.env.example` are
 * generated from this list (`node scripts/configuration-docs.ts`).
 */
export interface Setting {
  /** Name of the environment variable. */
  readonly name: string
  readonly group: Group
  /** One line for people, as a sentence. */
  readonly meaning: string
  /** The value when the setting is unset, as it would be written in the environment. */
  readonly default?: string
  readonly example: string
  /** Whether the value must never be printed. */
  readonly secret?: true
  /** Whether this version supports the setting. Setting an unsupported one is refused at start. */
  readonly supported: boolean
}

type Group =
  | 'Google Sheets'
  | 'Tabs'
  | 'Storage'
  | 'HTTP server'
  | 'Pages'
  | 'Bot challenge'
  | 'Access and limits'
  | 'Sites and fields'
  | 'Notices'
  | 'Logging'

export const settings = [
  {
    name: 'SHEETS_SHEET_ID',
    group: 'Google Sheets',
    meaning:
      'The spreadsheet that gets the rows: the id in its URL after `/spreadsheets/d/`, or the whole URL.',
    example:
      'https://docs.google.com/spreadsheets/d/1AbCdEfGhIjKlMnOpQrStUvWxYz0123456789-_AbCdE/edit',
    supported: true,
  },
  {
    name: 'SHEETS_CREDENTIALS_EMAIL',
    group: 'Google Sheets',
    meaning:
      'Email address of the service account. Not needed when `SHEETS_PRIVATE_KEY` holds the whole JSON key file.',
    example: 'rollcall@my-project.iam.gserviceaccount.com',
    supported: true,
  },
  {
    name: 'SHEETS_PRIVATE_KEY',
    group: 'Google Sheets',
    meaning:
      'Private key of the service account, in any form: quoted or not, real line breaks or `\\n`, base64, or the whole JSON key file.',
    example: '"-----BEGIN PRIVATE KEY-----\\nMIIE...\\n-----END PRIVATE KEY-----\\n"',
    secret: true,
    supported: true,
  },
  {
    name: 'SHEETS_CREDENTIALS_FILE',
    group: 'Google Sheets',
    meaning:
      'Path of the JSON key file, instead of `SHEETS_CREDENTIALS_EMAIL` and `SHEETS_PRIVATE_KEY`.',
    example: './service-account.json',
    supported: true,
  },
  {
    name: 'GOOGLE_APPLICATION_CREDENTIALS',
    group: 'Google Sheets',
    meaning:
      'Path of the JSON key file, under the name that Google’s own tools read. Used when `SHEETS_SHEET_ID` is set and the three settings above are not.',
    example: '/etc/rollcall/service-account.json',
    supported: true,
  },
  {
    name: 'SHEETS_REQUESTS_PER_MINUTE',
    group: 'Google Sheets',
    meaning:
      'The most calls to the Sheets API, reads and writes together, in any 60 seconds: 1 to 3,000.',
    default: '50',
    example: '50',
    supported: true,
  },
  {
    name: 'SHEETS_REQUESTS_PER_DAY',
    group: 'Google Sheets',
    meaning: 'The most calls to the Sheets API in any 24 hours: 1 to 1,000,000.',
    default: '10000',
    example: '10000',
    supported: true,
  },
  {
    name: 'SHEETS_API_URL',
    group: 'Google Sheets',
    meaning:
      'URL of the Sheets API, for a proxy or an emulator. With `http://`, access tokens travel unencrypted.',
    default: 'https://sheets.googleapis.com',
    example: 'http://127.0.0.1:8080',
    supported: true,
  },
  {
    name: 'SHEETS_TOKEN_URL',
    group: 'Google Sheets',
    meaning:
      'URL that issues access tokens, for a proxy or an emulator. With `http://`, they travel unencrypted.',
    default: 'https://oauth2.googleapis.com/token',
    example: 'http://127.0.0.1:8080/token',
    supported: true,
  },
  {
    name: 'DEFAULT_SHEET_TAB',
    group: 'Tabs',
    meaning:
      'Tab for signups that name no tab: 1 to 100 characters. If it is unset and the Google spreadsheet has only one tab, which is empty, Rollcall uses that tab, whatever its name.',
    default: 'Sheet1',
    example: 'Signups',
    supported: true,
  },
  {
    name: 'SHEET_TABS',
    group: 'Tabs',
    meaning:
      'The only tabs that signups may name besides the default tab, separated by commas. Recommended on the public internet: otherwise anybody can make new tabs, up to `MAX_SHEET_TABS`.',
    example: 'Newsletter,Waitlist',
    supported: true,
  },
  {
    name: 'MAX_SHEET_TABS',
    group: 'Tabs',
    meaning:
      'How many new tabs signups may make: 0 to 10,000. One client address may make 10 an hour. The default tab and the tabs of `SHEET_TABS` do not count.',
    default: '100',
    example: '20',
    supported: true,
  },
  {
    name: 'DATA_DIR',
    group: 'Storage',
    meaning:
      'Folder of the journal and of the local workbook. Rollcall makes it if it is missing. Only one service can use it at a time.',
    default: './data',
    example: '/var/lib/rollcall',
    supported: true,
  },
  {
    name: 'DATABASE_URL',
    group: 'Storage',
    meaning:
      'URL of a PostgreSQL database (15 or newer) for the journal, so that several instances share it (docs/scaling.md). `DATA_DIR` is not used then. Needs a Google Sheet.',
    example: 'postgres://rollcall:password@db.example.com/rollcall?sslmode=verify-full',
    secret: true,
    supported: true,
  },
  {
    name: 'RETENTION_DAYS',
    group: 'Storage',
    meaning:
      'For how many days after its row was written the journal keeps what a signup says: 2 to 36,500; 0 for ever. The spreadsheet keeps the row.',
    default: '0',
    example: '90',
    supported: true,
  },
  {
    name: 'HOST',
    group: 'HTTP server',
    meaning:
      'Address to listen on: `0.0.0.0` for every network, `127.0.0.1` for this machine only.',
    default: '0.0.0.0',
    example: '127.0.0.1',
    supported: true,
  },
  {
    name: 'PORT',
    group: 'HTTP server',
    meaning: 'Port to listen on: 0 to 65535. With 0, Rollcall picks a free port and prints it.',
    default: '3000',
    example: '8080',
    supported: true,
  },
  {
    name: 'BODY_LIMIT_BYTES',
    group: 'HTTP server',
    meaning: 'The largest request body: 1,024 to 16,777,216 bytes (1 KiB to 16 MiB).',
    default: '1048576',
    example: '65536',
    supported: true,
  },
  {
    name: 'TRUST_PROXY',
    group: 'HTTP server',
    meaning:
      'How many proxies stand in front of the service: 0 to 10. Rollcall uses the client address that the first of them wrote into `X-Forwarded-For`.',
    default: '0',
    example: '1',
    supported: true,
  },
  {
    name: 'PAGE_TITLE',
    group: 'Pages',
    meaning: 'Heading of the signup page `/`: up to 100 characters.',
    example: 'The Rollcall letter',
    supported: true,
  },
  {
    name: 'PAGE_TEXT',
    group: 'Pages',
    meaning: 'A line under the heading: up to 300 characters.',
    example: 'One short mail a month. No noise.',
    supported: true,
  },
  {
    name: 'PAGE_BUTTON',
    group: 'Pages',
    meaning: 'Text of the button, also on the bare form: up to 60 characters.',
    example: 'Count me in',
    supported: true,
  },
  {
    name: 'PAGE_ACCENT',
    group: 'Pages',
    meaning:
      'Colour of the button, as `#rgb` or `#rrggbb`. If it would be hard to read, the pages show it lighter or darker.',
    example: '"#0a7a4b"',
    supported: true,
  },
  {
    name: 'PAGE_LOGO_URL',
    group: 'Pages',
    meaning: 'URL of a picture above the heading, with `https://`.',
    example: 'https://example.com/logo.svg',
    supported: true,
  },
  {
    name: 'PAGE_THANKS',
    group: 'Pages',
    meaning:
      'A text below the thanks for a signup, on the pages and in the embed: up to 300 characters.',
    example: 'The first letter comes on Sunday.',
    supported: true,
  },
  {
    name: 'PAGE_NEXT_URL',
    group: 'Pages',
    meaning:
      'Address of a page, with `https://` or `http://`: below the thanks, a link leads there.',
    example: 'https://example.com/welcome',
    supported: true,
  },
  {
    name: 'PAGE_LANGUAGE',
    group: 'Pages',
    meaning:
      'Language of the texts above, and of the pages for visitors whose browser asks for none of `en de fr es pt it nl pl tr ar hi ja ko zh`. Unset: English.',
    example: 'de',
    supported: true,
  },
  {
    name: 'PAGE_CONSENT',
    group: 'Pages',
    meaning:
      'Text of a checkbox that visitors must tick, also on the bare form and in the embed: up to 1,000 characters; `[words](https://…)` is a link. The text that a visitor agreed to goes into Metadata as `consent`.',
    example: 'I have read the [privacy policy](https://example.com/privacy) and agree to it.',
    supported: true,
  },
  {
    name: 'PAGE_NAME',
    group: 'Pages',
    meaning: 'Whether the pages ask for a name: `off`, `optional` or `required`.',
    default: 'off',
    example: 'optional',
    supported: true,
  },
  {
    name: 'CHALLENGE_SITE_KEY',
    group: 'Bot challenge',
    meaning:
      'Site key of the challenge, which is public. The challenge is on when both keys are set, and off when neither is.',
    example: '1x00000000000000000000AA',
    supported: true,
  },
  {
    name: 'CHALLENGE_SECRET_KEY',
    group: 'Bot challenge',
    meaning:
      'Secret key of the same site. With a provider’s test key, everybody passes, or nobody.',
    example: '1x0000000000000000000000000000000AA',
    secret: true,
    supported: true,
  },
  {
    name: 'CHALLENGE_PROVIDER',
    group: 'Bot challenge',
    meaning: 'Provider of the challenge: `turnstile`, `hcaptcha` or `recaptcha`.',
    default: 'turnstile',
    example: 'hcaptcha',
    supported: true,
  },
  {
    name: 'CHALLENGE_VERIFY_URL',
    group: 'Bot challenge',
    meaning:
      'URL that verifies tokens, instead of the provider’s own. Rollcall sends the secret key to it.',
    example: 'https://challenge.example.com/siteverify',
    supported: true,
  },
  {
    name: 'CHALLENGE_SCRIPT_URL',
    group: 'Bot challenge',
    meaning: 'URL of the widget’s script, instead of the provider’s own.',
    example: 'https://challenge.example.com/api.js',
    supported: true,
  },
  {
    name: 'CHALLENGE_HOSTNAMES',
    group: 'Bot challenge',
    meaning:
      'Host names of the pages that tokens may come from, separated by commas; list each subdomain. Unset: every host that the provider allows.',
    example: 'example.com,www.example.com',
    supported: true,
  },
  {
    name: 'ALLOWED_ORIGINS',
    group: 'Access and limits',
    meaning:
      'Web origins whose pages may send signups and show the form in a frame, separated by commas; `*` allows all. The service’s own pages are always allowed.',
    default: '*',
    example: 'https://example.com,https://www.example.com',
    supported: true,
  },
  {
    name: 'ALLOWED_HOSTS',
    group: 'Access and limits',
    meaning:
      'Hosts under which visitors reach the service, separated by commas, each with its port if its URL has one. When `ALLOWED_ORIGINS` names origins, only pages on these hosts count as the service’s own. Unset: pages on any host do.',
    example: 'signup.example.com,localhost:3000',
    supported: true,
  },
  {
    name: 'API_KEYS',
    group: 'Access and limits',
    meaning:
      'Keys that allow bulk signups, each of at least 16 characters, separated by commas. Unset: everybody may send bulk signups.',
    example: 'a-long-random-text,another-long-random-text',
    secret: true,
    supported: true,
  },
  {
    name: 'ADMIN_TOKEN',
    group: 'Access and limits',
    meaning: 'Token for `/admin`, which exists only when this is set.',
    example: 'a-long-random-text',
    secret: true,
    supported: false,
  },
  {
    name: 'METRICS_TOKEN',
    group: 'Access and limits',
    meaning:
      'Token of at least 16 characters for `/metrics`, which exists only when this is set (docs/monitoring.md).',
    example: 'a-long-random-text',
    secret: true,
    supported: true,
  },
  {
    name: 'RATE_LIMIT_PER_MINUTE',
    group: 'Access and limits',
    meaning:
      'The most signups in any 60 seconds from one client address: 0 to 1,000,000. 0 means no limit.',
    default: '60',
    example: '20',
    supported: true,
  },
  {
    name: 'DUPLICATES',
    group: 'Access and limits',
    meaning:
      '`append` writes a row for every signup. `ignore` writes one row for each address in a tab: a second signup of the address gets the same answer but no row, even if somebody has deleted the first row from the spreadsheet.',
    default: 'append',
    example: 'ignore',
    supported: true,
  },
  {
    name: 'BULK_MAX',
    group: 'Access and limits',
    meaning: 'The most signups in one bulk request: 1 to 10,000. `BODY_LIMIT_BYTES` applies, too.',
    default: '1000',
    example: '200',
    supported: true,
  },
  {
    name: 'ROLLCALL_CONFIG',
    group: 'Sites and fields',
    meaning:
      'Path of a JSON file with several sites, each with a spreadsheet and fields of its own, or the JSON itself (docs/sites.md).',
    example: './rollcall.json',
    supported: true,
  },
  {
    name: 'ALERT_WEBHOOK_URL',
    group: 'Notices',
    meaning:
      'URL of HTTPS, or of HTTP on this machine or in its private network, that gets a POST when delivery has not worked for five minutes, and when it works again (docs/monitoring.md). Needs `ALERT_WEBHOOK_SECRET`, too.',
    example: 'https://hooks.example.com/rollcall',
    secret: true,
    supported: true,
  },
  {
    name: 'ALERT_WEBHOOK_SECRET',
    group: 'Notices',
    meaning:
      'Secret that signs notices after Standard Webhooks: `whsec_` and then 24 to 64 bytes in base64.',
    example: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD',
    secret: true,
    supported: true,
  },
  {
    name: 'LOG_LEVEL',
    group: 'Logging',
    meaning:
      'The least serious level that is logged: `trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`.',
    default: 'info',
    example: 'debug',
    supported: true,
  },
  {
    name: 'LOG_FORMAT',
    group: 'Logging',
    meaning:
      '`text`: a line for people. `json`: a line for programs. Unset: `text` on a terminal, and `json` elsewhere. With `NO_COLOR`, text has no colours.',
    example: 'json',
    supported: true,
  },
] as const satisfies readonly Setting[]

type Listed = (typeof settings)[number]
export type SettingName = Listed['name']
export type SettingWithDefault = Extract<Listed, { readonly default: string }>['name']
