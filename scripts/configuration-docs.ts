/**
 * Writes docs/configuration.md and .env.example from the list of settings, and config.schema.json from the
 * description of the file of sites.
 */
import { writeFile } from 'node:fs/promises'
import { format, resolveConfig } from 'prettier'
import { configJsonSchema } from '../src/config/sites/site-schema.ts'
import type { Setting } from '../src/config/setting.ts'
import { type SettingName, settings } from '../src/config/settings.ts'
import { digits } from '../src/platform/digits.ts'

const root = new URL('../', import.meta.url)
const command = 'node scripts/configuration-docs.ts'

/** The contents of the files that are made, by path from the root of the project. */
export async function generated(): Promise<ReadonlyMap<string, string>> {
  const style = await resolveConfig(new URL('docs/configuration.md', root))
  const jsonStyle = await resolveConfig(new URL('config.schema.json', root), { editorconfig: true })
  const schema = JSON.stringify(configJsonSchema(), null, 2)
  return new Map([
    ['docs/configuration.md', await format(configurationPage(), { ...style, parser: 'markdown' })],
    ['.env.example', envExample()],
    ['config.schema.json', await format(schema, { ...jsonStyle, parser: 'json' })],
  ])
}

function configurationPage(): string {
  return `<!-- Made by \`${command}\` from src/config/settings.ts: change it there. -->

# Settings

Rollcall reads its settings from environment variables, and from a file \`.env\` in the working folder, with \`NAME=value\`
lines. \`.env.example\` has an example of each. Without any, it writes signups to a local workbook under \`./data\`;
[google-setup.md](google-setup.md) has each step to a Google spreadsheet.

- A variable of the environment wins over the file, even an empty one. An empty value counts as unset.
- \`ROLLCALL_FOLDER\`, a variable of the environment only, names the folder to take for the working folder: its \`.env\`
  counts, and paths of settings begin there.
- In \`.env\` a value between quotes may have several lines, and \`#\` after a space begins a comment.
- A start with wrong settings tells all problems at once, with what to do, and ends with exit code 2. A secret is never
  printed.
- A name in \`.env\` that is no setting, or one in the environment that looks like ours, is a warning at the start and in
  \`doctor\`, with the setting that it may mean.
- With any \`SHEETS_\` setting, rows go to Google Sheets, and the spreadsheet's id and the service account are needed.
  \`GOOGLE_APPLICATION_CREDENTIALS\` alone changes nothing, as other programs use it too.

${byGroup(settingRows)
  .map(([group, members]) => `## ${group}\n\n${table(members)}`)
  .join('\n\n')}
`
}

function table(members: readonly Row[]): string {
  const head = ['Setting', 'Meaning', 'Default']
  const rows = members.map(([name, setting]) => [
    code(name),
    setting.secret ? `${meaningOf(setting)} Secret.` : meaningOf(setting),
    setting.default === undefined ? 'none' : code(setting.default),
  ])
  return [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n')
}

function code(text: string): string {
  return `\`${text}\``
}

function envExample(): string {
  const groups = byGroup(settingRows).map(([group, members]) => {
    const entries = members.map(([name, setting]) => {
      const { default: standard, example } = setting
      const note = standard === undefined ? '' : ` Default: ${standard}`
      return `# ${meaningOf(setting).replaceAll('`', '')}${note}\n#${name}=${example}\n`
    })
    return [`# --- ${group} ---\n`, ...entries].join('\n')
  })
  const head = `# Copy this file to .env and remove the # from the lines that you need. None is needed.
# More in docs/configuration.md. Made by \`${command}\`.
`
  return [head, ...groups].join('\n')
}

/** What it does and which values it takes. */
function meaningOf({ meaning, kind: { schema } }: Setting): string {
  const { minimum, maximum = 0 } = schema as {
    readonly minimum?: number
    readonly maximum?: number
  }
  const [text = schema] = (schema['anyOf'] ?? []) as readonly Setting['kind']['schema'][]
  const range = minimum === undefined ? '' : ` From ${digits(minimum)} to ${digits(maximum)}.`
  const { maxLength } = text as { readonly maxLength?: number }
  return (
    meaning + range + (maxLength === undefined ? '' : ` Up to ${digits(maxLength)} characters.`)
  )
}

type Row = readonly [name: SettingName, setting: Setting]

const settingRows = Object.entries(settings) as Row[]

/** The headings, each over the rows from this setting on. */
const headings: Readonly<Partial<Record<SettingName, string>>> = {
  SHEETS_SHEET_ID: 'Google Sheets',
  DEFAULT_SHEET_TAB: 'Tabs',
  CLOSES_AT: 'Opening and closing',
  DATA_DIR: 'Storage',
  HOST: 'HTTP server',
  PAGE_TITLE: 'Pages',
  CHALLENGE_SITE_KEY: 'Bot challenge',
  SPAM_FILTER: 'Spam',
  ALLOWED_ORIGINS: 'Access and limits',
  ROLLCALL_CONFIG: 'Sites and fields',
  CONFIRMATION: 'Confirmation and mail',
  WEBHOOK_URL: 'Webhooks',
  ALERT_WEBHOOK_URL: 'Notices',
  LOG_LEVEL: 'Logging',
}

/** The groups in the order of the list. */
function byGroup(members: readonly Row[]): (readonly [string, readonly Row[]])[] {
  let group = ''
  return [...Map.groupBy(members, ([name]) => (group = headings[name] ?? group))]
}

if (import.meta.main) {
  for (const [path, content] of await generated()) await writeFile(new URL(path, root), content)
}
