// Before the first file in TypeScript: this one is read as it stands. What it gains is measured in
// docs/decisions/performance.md.
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'

// The next start finds the code compiled, and loads no compiler. Not in the folder for temporary files
// of all users: whoever may write there could change the code.
enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/rollcall'))

// What a request makes lives until its group is on disk. V8 takes that for long-lived, and would fill
// the old generation with it.
setFlagsFromString('--no-allocation-site-pretenuring')

await import('./main.ts')
