/**
 * Prepares a fresh clone before `npm start`, `npm test` and the like. It runs on any Node from 20 with
 * nothing installed, so it is plain JavaScript and imports only Node's modules.
 *
 * usage: node scripts/setup.js [--for start|sandbox|service|check|test|system|bench]
 */
import { rmSync, statSync, utimes, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { browserFiles, compiled } from './setup-build.js'
import {
  allPackages,
  newEnoughNode,
  ourNode,
  packagesToRun,
  root,
  SetupError,
} from './setup-dependencies.js'
import { chromium, systemPrograms, wrk } from './setup-programs.js'

const turnFile = join(root, '.setup-running')
const turnTouchMs = 1_000
const turnStaleMs = 20_000

/** The steps for each command, in order. */
const needs = {
  start: [packagesToRun, newEnoughNode, browserFiles, compiled],
  // Its mailbox and its receiver of webhooks are those of the tests.
  sandbox: [allPackages, newEnoughNode, browserFiles, compiled],
  service: [packagesToRun, ourNode, browserFiles, compiled],
  check: [allPackages, ourNode],
  test: [allPackages, ourNode, browserFiles, chromium],
  system: [allPackages, ourNode, browserFiles, chromium, systemPrograms, wrk],
  bench: [allPackages, ourNode, browserFiles, compiled, wrk],
}

try {
  for (const step of stepsFor(process.argv.slice(2))) {
    if (!(await step.ready())) await oneAtATime(async () => (await step.ready()) || step.install())
  }
} catch (error) {
  if (!(error instanceof SetupError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}

function stepsFor(args) {
  const command = args.length === 0 ? 'start' : args[0] === '--for' ? args[1] : undefined
  if (command !== undefined && Object.hasOwn(needs, command)) return needs[command]
  const known = Object.keys(needs).join('|')
  throw new SetupError(`Cannot set up for ${args.join(' ')}: use --for ${known}.`)
}

/**
 * Lets only one command install at a time. The command that installs touches a file again and again, so
 * that others recognise the file of a command that was killed.
 */
async function oneAtATime(work) {
  if (!takeTurn()) {
    process.stdout.write('Another command is installing, waiting for it ...\n')
    while (!takeTurn()) await sleep(200)
  }
  const touch = setInterval(() => utimes(turnFile, new Date(), new Date(), () => {}), turnTouchMs)
  try {
    await work()
  } finally {
    clearInterval(touch)
    rmSync(turnFile, { force: true })
  }
}

function takeTurn() {
  try {
    writeFileSync(turnFile, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') {
      throw new SetupError(`Cannot write to the project's folder ${root}: ${error.message}`)
    }
    const touchedAt = statSync(turnFile, { throwIfNoEntry: false })?.mtimeMs
    if (touchedAt !== undefined && Date.now() - touchedAt > turnStaleMs) {
      rmSync(turnFile, { force: true })
    }
    return false
  }
}
