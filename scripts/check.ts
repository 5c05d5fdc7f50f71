/** `npm run check`: checks format, lint, types, imports and dead code, and prints failures. */
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'

const folders = 'src browser harness test emulators bench scripts'

/** Two lanes, for two cores: the first check takes longer than the others together. */
const lanes = [
  [{ name: 'types and lint', command: 'node scripts/types-and-lint.ts' }],
  [
    { name: 'format', command: 'prettier --check . --log-level warn --cache' },
    { name: 'imports', command: `depcruise ${folders} --output-type err-long` },
    { name: 'dead code', command: 'knip --no-progress' },
  ],
]

/** Compilers make many objects. In Node's small space for new ones, they spend a sixth of their time on collecting. */
const env = { ...process.env, NODE_OPTIONS: '--max-semi-space-size=64' }

/** Runs a check. npm has put node_modules/.bin first in PATH. */
async function run({ name, command }: (typeof lanes)[number][number]): Promise<void> {
  const child = spawn(command, { env, shell: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const exited = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve)
  })
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), exited])
  process.stdout.write(code === 0 ? `ok      ${name}\n` : `FAILED  ${name}\n${out}${err}\n`)
  if (code !== 0) process.exitCode = 1
}

async function runAll(lane: (typeof lanes)[number]): Promise<void> {
  for (const check of lane) await run(check)
}

await Promise.all(lanes.map(runAll))
