// Before the first file in TypeScript: this one is read as it stands, by old versions of Node.js too.
import module from 'node:module'
import { join } from 'node:path'
import process from 'node:process'
import { setFlagsFromString } from 'node:v8'

/** As `engines` in package.json. */
const nodeMajorMin = 24

if (Number(process.versions.node.split('.')[0]) < nodeMajorMin) {
  process.stderr.write(
    `Rollcall needs Node.js ${nodeMajorMin} or newer, and this is ${process.versions.node}: ` +
      'use "npm start", or "node_modules/.bin/node src/start.js" after "npm ci", which brings its own.\n',
  )
  process.exitCode = 2
} else {
  // The next start finds the code compiled, and loads no compiler. Not in the folder for temporary files
  // of all users: whoever may write there could change the code. What it gains is measured in
  // docs/decisions/performance.md.
  module.enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/rollcall'))

  // What a request makes lives until its group is on disk. V8 takes that for long-lived, and would fill
  // the old generation with it.
  setFlagsFromString('--no-allocation-site-pretenuring')

  await import('./main.ts')
}
