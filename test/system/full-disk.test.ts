import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import type { Report } from '../../src/cli/doctor.ts'
import { environmentOfAnyProgram } from '../../harness/environment.ts'
import { projectRoot } from '../../harness/source-file.ts'
import { tempFolder } from '../../harness/temp-folder.ts'

/** Mounts a disk of 128 MB at the folder, lets doctor make the journal, fills the disk, and runs doctor again. */
const script = `
  mount -t tmpfs -o size=128m,mode=700 none "$DATA_DIR"
  "$@" > /dev/null
  cat /dev/zero > "$DATA_DIR/filling" 2> /dev/null || true
  "$@" || echo "code $?" >&2`

test('doctor finds a full disk', async () => {
  await using data = await tempFolder()
  const doctor = [process.execPath, join(projectRoot, 'src/start.js'), 'doctor', '--json']
  // The mount belongs to a name space of its own, so that it is gone with its processes.
  const { stdout, stderr } = await promisify(execFile)(
    'unshare',
    ['--map-root-user', '--mount', 'sh', '-eu', '-c', script, 'sh', ...doctor],
    { env: { ...environmentOfAnyProgram(), DATA_DIR: data.path } },
  )
  expect(stderr).toBe('code 1\n')
  const { findings } = JSON.parse(stdout) as Report
  expect(findings).toContainEqual({
    check: 'disk',
    state: 'fault',
    message: `only 0 MB are free in ${data.path}`,
    hint: 'Free some space, or set DATA_DIR to a folder on another disk.',
  })
})
