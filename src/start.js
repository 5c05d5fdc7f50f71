#!/usr/bin/env node
// Runs before the first TypeScript file. Old versions of Node.js must be able to run this file.
import module from 'node:module'
import { join } from 'node:path'
import process from 'node:process'
import { setFlagsFromString } from 'node:v8'

/** Must equal `engines` in package.json. */
const nodeMajorMin = 24

if (Number(process.versions.node.split('.')[0]) < nodeMajorMin) {
  const isInstalled = import.meta.url.includes('/node_modules/')
  process.stderr.write(
    `Rollcall needs Node.js ${nodeMajorMin} or newer, and this is ${process.versions.node}. ` +
      (isInstalled
        ? 'Install a newer one from https://nodejs.org.\n'
        : 'Use "npm start", which brings its own.\n'),
  )
  process.exitCode = 2
} else {
  // Cache the compiled code, so that the next start needs no compiler (docs/decisions/performance.md).
  // The cache is not in the shared temporary folder, where other users could change the code.
  module.enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/rollcall'))

  // A request's objects live until its group is on disk. V8 would take them for long-lived and fill the
  // old generation with them.
  setFlagsFromString('--no-allocation-site-pretenuring')

  // While modules load, V8 would double its space for new objects to 16 MB, and keep it. What works for long
  // lets it grow later (src/platform/node/heap.ts).
  setFlagsFromString('--semi-space-growth-factor=1')

  await import('./main.ts')
}
