import { parseEnvFile, rowsOf } from './env-file.ts'

/** New values by name; undefined removes the setting. */
export type EnvChanges = ReadonlyMap<string, string | undefined>

/**
 * Changes settings in the text of an `.env` file. A new value takes the place of the old one; everything
 * else stays as it is.
 *
 * @throws Error when a value cannot be written there, because it has quotes of every kind
 */
export function editEnvFile(text: string, changes: EnvChanges): string {
  const rows: (string | undefined)[] = rowsOf(text)
  if (rows.at(-1) === '') rows.pop()
  const placed = new Set<string>()
  for (const { name, line, lineCount } of parseEnvFile(text).assignments) {
    if (!changes.has(name)) continue
    rows.fill(undefined, line - 1, line - 1 + lineCount)
    const value = changes.get(name)
    if (value !== undefined && !placed.has(name)) rows[line - 1] = assignmentOf(name, value)
    placed.add(name)
  }
  for (const [name, value] of changes) {
    if (value !== undefined && !placed.has(name)) rows.push(assignmentOf(name, value))
  }
  const lineEnd = text.includes('\r\n') ? '\r\n' : '\n'
  return rows.flatMap((row) => (row === undefined ? [] : [row + lineEnd])).join('')
}

function assignmentOf(name: string, value: string): string {
  const forms = [value, `"${value.replaceAll('\n', '\\n')}"`, `'${value}'`, `\`${value}\``]
  const rows = forms.map((form) => `${name}=${form}`)
  const right = rows.find((row) => !row.includes('\n') && isRead(row, name, value))
  if (right === undefined) {
    throw new Error(
      `${name} cannot be written to .env: it has quotes of every kind. Set it in the environment.`,
    )
  }
  return right
}

function isRead(row: string, name: string, value: string): boolean {
  const { variables, problems } = parseEnvFile(row)
  return problems.length === 0 && variables[name] === value
}
