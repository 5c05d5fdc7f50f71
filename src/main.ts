import { runProgram } from './cli/program.ts'
import { onStopSignal } from './cli/terminal/stop-signals.ts'

// What commands write has email addresses: only their own user may read it.
if (process.platform !== 'win32') process.umask(0o077)
const stop = new AbortController()
onStopSignal(() => stop.abort())
process.exitCode = await runProgram(process.argv.slice(2), process, stop.signal)
