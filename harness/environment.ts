/** The environment variables that any program needs; none of Rollcall's. */
export function environmentOfAnyProgram(): Record<string, string | undefined> {
  const names = ['PATH', 'HOME', 'TMPDIR', 'TEMP', 'TMP', 'SystemRoot', 'LANG', 'TZ']
  return Object.fromEntries(names.map((name) => [name, process.env[name]]))
}
