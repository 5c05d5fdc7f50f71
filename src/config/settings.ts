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
      'Address of the service account. Not needed when `SHEETS_PRIVATE_KEY` holds the whole JSON key file.',
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
      'The same, under the name that Google’s own tools read. Used when `SHEETS_SHEET_ID` is set and none of the three above is.',
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
      'Where the Sheets API is; for a proxy or an emulator. `http://` is accepted, and then access tokens travel unencrypted.',
    default: 'https://sheets.googleapis.com',
    example: 'http://127.0.0.1:8080',
    supported: true,
  },
  {
    name: 'SHEETS_TOKEN_URL',
    group: 'Google Sheets',
    meaning:
      'Where access tokens are fetched; for a proxy or an emulator. `http://` as with `SHEETS_API_URL`.',
    default: 'https://oauth2.googleapis.com/token',
    example: 'http://127.0.0.1:8080/token',
    supported: true,
  },
  {
    name: 'DEFAULT_SHEET_TAB',
    group: 'Tabs',
    meaning:
      'Tab for signups that name none: 1 to 100 characters. When it is not set and the Google spreadsheet has exactly one tab, which is empty, that one is taken, whatever its name.',
    default: 'Sheet1',
    example: 'Signups',
    supported: true,
  },
  {
    name: 'SHEET_TABS',
    group: 'Tabs',
    meaning:
      'The only tabs a signup may name besides the default one, separated by commas. Recommended on the public internet: without it anybody can make new tabs, up to `MAX_SHEET_TABS`.',
    example: 'Newsletter,Waitlist',
    supported: true,
  },
  {
    name: 'MAX_SHEET_TABS',
    group: 'Tabs',
    meaning:
      'How many new tabs signups may bring into being, 0 to 10,000; one client address at most 10 in an hour. The default tab and those of `SHEET_TABS` do not count.',
    default: '100',
    example: '20',
    supported: true,
  },
  {
    name: 'DATA_DIR',
    group: 'Storage',
    meaning:
      'Folder of the journal and of the local workbook, made when missing. One process at a time uses it.',
    default: './data',
    example: '/var/lib/rollcall',
    supported: true,
  },
  {
    name: 'DATABASE_URL',
    group: 'Storage',
    meaning: 'A PostgreSQL URL: the journal lives there and several instances may share it.',
    example: 'postgres://rollcall:password@db.example.com/rollcall',
    secret: true,
    supported: false,
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
    meaning: 'Port to listen on, 0 to 65535; 0 picks a free one and prints it.',
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
      'How many proxies stand in front of the service, 0 to 10: the client address is the one that the first of them wrote into `X-Forwarded-For`.',
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
    meaning: 'What the button says, on the bare form too: up to 60 characters.',
    example: 'Count me in',
    supported: true,
  },
  {
    name: 'PAGE_ACCENT',
    group: 'Pages',
    meaning:
      'Colour of the button, as `#rgb` or `#rrggbb`. Where it would be hard to read it is shown lighter or darker.',
    example: '"#0a7a4b"',
    supported: true,
  },
  {
    name: 'PAGE_LOGO_URL',
    group: 'Pages',
    meaning: 'A picture above the heading, by its `https://` address.',
    example: 'https://example.com/logo.svg',
    supported: true,
  },
  {
    name: 'PAGE_LANGUAGE',
    group: 'Pages',
    meaning:
      'Language for visitors whose browser asks for none of `en de fr es pt it nl pl tr ar hi ja ko zh`; it is also that of the texts above. Unset: English.',
    example: 'de',
    supported: true,
  },
  {
    name: 'PAGE_CONSENT',
    group: 'Pages',
    meaning:
      'Text of a checkbox that must be ticked, on the bare form and in the embed too: up to 1,000 characters; `[words](https://…)` is a link. What was agreed to goes into Metadata as `consent`.',
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
      'Site key of the challenge, which is public. The challenge is on when both keys are set, and off when none is.',
    example: '1x00000000000000000000AA',
    supported: true,
  },
  {
    name: 'CHALLENGE_SECRET_KEY',
    group: 'Bot challenge',
    meaning: 'Secret key of the same site. Those for tests let everybody pass, or nobody.',
    example: '1x0000000000000000000000000000000AA',
    secret: true,
    supported: true,
  },
  {
    name: 'CHALLENGE_PROVIDER',
    group: 'Bot challenge',
    meaning: '`turnstile`, `hcaptcha` or `recaptcha`.',
    default: 'turnstile',
    example: 'hcaptcha',
    supported: true,
  },
  {
    name: 'CHALLENGE_VERIFY_URL',
    group: 'Bot challenge',
    meaning:
      'Where tokens are verified, instead of the provider’s own address. It sees the secret key.',
    example: 'https://challenge.example.com/siteverify',
    supported: true,
  },
  {
    name: 'CHALLENGE_SCRIPT_URL',
    group: 'Bot challenge',
    meaning: 'Where the widget’s script is, instead of the provider’s own address.',
    example: 'https://challenge.example.com/api.js',
    supported: true,
  },
  {
    name: 'CHALLENGE_HOSTNAMES',
    group: 'Bot challenge',
    meaning:
      'Host names of the pages that tokens may come from, separated by commas; unset: any that the provider lets in. Subdomains count as names of their own.',
    example: 'example.com,www.example.com',
    supported: true,
  },
  {
    name: 'ALLOWED_ORIGINS',
    group: 'Access and limits',
    meaning:
      'Web origins whose pages may send signups and show the form in a frame, separated by commas; `*` for all. The service’s own pages always may.',
    default: '*',
    example: 'https://example.com,https://www.example.com',
    supported: true,
  },
  {
    name: 'ALLOWED_HOSTS',
    group: 'Access and limits',
    meaning:
      'Hosts under which visitors reach the service, separated by commas, with the port where the address has one; unset: any. Where `ALLOWED_ORIGINS` names origins, only pages of these hosts then count as the service’s own.',
    example: 'signup.example.com,localhost:3000',
    supported: true,
  },
  {
    name: 'API_KEYS',
    group: 'Access and limits',
    meaning:
      'Keys for bulk signups, each of at least 16 characters, separated by commas; unset: none is needed.',
    example: 'a-long-random-text,another-long-random-text',
    secret: true,
    supported: true,
  },
  {
    name: 'ADMIN_TOKEN',
    group: 'Access and limits',
    meaning: 'When set, `/admin` exists and needs it.',
    example: 'a-long-random-text',
    secret: true,
    supported: false,
  },
  {
    name: 'RATE_LIMIT_PER_MINUTE',
    group: 'Access and limits',
    meaning:
      'The most signups in any 60 seconds from one client address, 0 to 1,000,000; 0 is no limit.',
    default: '60',
    example: '20',
    supported: true,
  },
  {
    name: 'DUPLICATES',
    group: 'Access and limits',
    meaning:
      '`append` writes a row for every signup. `ignore` writes one for each address in a tab: a second signup is answered like the first and writes no row. The journal decides what a second one is: a row that somebody deleted from the spreadsheet does not come back by it.',
    default: 'append',
    example: 'ignore',
    supported: true,
  },
  {
    name: 'BULK_MAX',
    group: 'Access and limits',
    meaning: 'The most signups in one bulk request, 1 to 10,000; `BODY_LIMIT_BYTES` holds too.',
    default: '1000',
    example: '200',
    supported: true,
  },
  {
    name: 'LOG_LEVEL',
    group: 'Logging',
    meaning: '`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`.',
    default: 'info',
    example: 'debug',
    supported: true,
  },
] as const satisfies readonly Setting[]

type Listed = (typeof settings)[number]
export type SettingName = Listed['name']
export type SettingWithDefault = Extract<Listed, { readonly default: string }>['name']
