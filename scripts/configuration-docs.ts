/**
 * Writes docs/configuration.md and .env.example from the list of settings, and config.schema.json from the
 * description of the file of sites. With `--check` it writes
 * nothing, and ends with exit code 1 when one of them is out of date.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { format, resolveConfig } from 'prettier'
import { configJsonSchema } from '../src/config/sites/site-schema.ts'
import { type Setting, type SettingName, settings } from '../src/config/settings.ts'

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

/** The paths of the files that are out of date. */
export async function outdated(): Promise<string[]> {
  const paths: string[] = []
  for (const [path, content] of await generated()) {
    const present = await readFile(new URL(path, root), 'utf8').catch(() => undefined)
    if (present !== content) paths.push(path)
  }
  return paths
}

function configurationPage(): string {
  return `<!-- Made by \`${command}\` from src/config/settings.ts: change it there. -->

# Settings

Rollcall reads its settings from environment variables. Without any it writes signups to a local workbook under
\`./data\`. [google-setup.md](google-setup.md) has each step to a Google spreadsheet.

- A file named \`.env\` in the working directory may have settings too, as \`NAME=value\` lines. \`.env.example\` is one to
  start from. A variable of the environment wins over the file, even an empty one: \`SHEETS_SHEET_ID= npm start\` ignores
  the id in \`.env\`.
- \`ROLLCALL_FOLDER\`, a variable of the environment only, names the folder to take for the working directory in all this:
  its \`.env\` counts, and paths of settings begin there. A folder that does not exist is refused.
- In \`.env\` a value between quotes may have several lines, and \`#\` after a space begins a comment. Any other line that
  is neither an assignment nor empty is a problem. Rollcall tells only its number, as its text may be a key.
- An empty value counts as unset. White space and one pair of quotes around a value are dropped.
- A start with problems tells all of them at once, and ends with exit code 2. It says what was given (of a secret only its
  form), what is expected and what to do.
- Rollcall takes a name that looks like a setting for a misspelt one, and tells it as a problem:
  - a name that begins with \`SHEETS_\`, \`CHALLENGE_\` or \`ROLLCALL_\` and is no setting;
  - a name that nearly is that of another setting, such as \`ALLOWED_ORIGIN\` or \`RATE_LIMIT\`, or that a provider uses,
    such as \`TURNSTILE_SECRET_KEY\` or \`GOOGLE_SHEET_ID\`, unless our setting is there too, even empty.
- If any \`SHEETS_\` setting is set, rows go to Google Sheets, and the spreadsheet's id and the service account are needed.
  Otherwise they go to the local workbook. \`GOOGLE_APPLICATION_CREDENTIALS\` alone changes nothing, as other programs
  use it too.

${byGroup(settingRows)
  .map(([group, members]) => `## ${group}\n\n${table(members)}`)
  .join('\n\n')}
`
}

function table(members: readonly Row[]): string {
  const head = ['Setting', 'Meaning', 'Default', 'Example']
  const rows = members.map(([name, setting]) => [
    code(name),
    setting.secret ? `${meaningOf(setting)} Secret: never printed.` : meaningOf(setting),
    setting.default === undefined ? 'none' : code(setting.default),
    code(setting.example),
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
function meaningOf({ meaning, kind: { form } }: Setting): string {
  return form === undefined ? meaning : `${meaning} ${form}`
}

type Row = readonly [name: SettingName, setting: Setting]

const settingRows = Object.entries(settings) as Row[]

/** The groups in the order of the list. Its first setting names a group. */
function byGroup(members: readonly Row[]): (readonly [string, readonly Row[]])[] {
  let group = ''
  return [...Map.groupBy(members, ([, setting]) => (group = setting.group ?? group))]
}

if (import.meta.main) {
  if (process.argv.includes('--check')) {
    const paths = await outdated()
    if (paths.length > 0) {
      console.error(`Out of date: ${paths.join(', ')}. Run: ${command}`)
      process.exitCode = 1
    }
  } else {
    for (const [path, content] of await generated()) await writeFile(new URL(path, root), content)
  }
}
