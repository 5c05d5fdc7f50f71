import { serve } from './cli/serve.ts'

const usage = `Usage: rollcall [serve]

Takes email signups over HTTP and puts each one, exactly once, as a row in a spreadsheet.
Settings are environment variables; docs/configuration.md lists them.

Exit codes: 0 stopped by a signal, 1 could not start or go on, 2 wrong settings or arguments.
`

const [command = 'serve', ...rest] = process.argv.slice(2)
if (command === '--help' || command === '-h') {
  process.stdout.write(usage)
} else if (command === 'serve' && rest.length === 0) {
  process.exitCode = await serve(process.stdout, process.stderr)
} else {
  process.stderr.write(`Rollcall does not know "${[command, ...rest].join(' ')}".\n\n${usage}`)
  process.exitCode = 2
}
