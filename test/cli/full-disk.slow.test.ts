// @module-tag slow
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { underSmallLimit } from '../../harness/file-size-limit.ts'
import { runCommand, startCommand } from '../../harness/run-command.ts'
import { tempFolder } from '../../harness/temp-folder.ts'
import type { Report } from '../../src/cli/doctor.ts'

/** Runs a command with room for a part of its work, after which writes fail as on a full disk. */
const runFull = (dataDir: string, args: readonly string[]) =>
  startCommand(args, { dataDir, under: ['prlimit', '--fsize=60000:'] }).ended

test.runIf(process.platform === 'linux')(
  'on a full disk, a command says what it has done and what to do, and all is as before',
  async () => {
    await using folder = await tempFolder()
    const dataDir = join(folder.path, 'data')
    const [list, backup] = [join(folder.path, 'list.csv'), join(folder.path, 'backup.db')]
    await writeFile(list, 'Email\na@b.co\n')
    await runCommand(['import', list], { dataDir })
    expect(await runCommand(['backup', backup], { dataDir })).toMatchObject({ code: 0 })
    const files = async () =>
      (await readdir(dataDir)).filter((name) => !/^lock$|-wal$|-shm$/.test(name))
    const before = await files()
    const addresses = Array.from({ length: 2_000 }, (_, at) => `person${at}@example.com`)
    await writeFile(list, ['Email', 'nobody', ...addresses].join('\n'))
    const imported = await runFull(dataDir, ['import', list, '--json'])
    expect(imported).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^The journal cannot be used: .*Free space on its disk/),
    })
    const report = JSON.parse(imported.stdout) as { read: number; added: number }
    expect(report).toMatchObject({ complete: false, skipped: 0, rejected: 1 })
    expect(report.added).toBe(report.read - 1)
    expect(report.added).toBeLessThan(2_000)
    expect(await readdir(folder.path)).toContain('list.csv.rejected.csv')
    const restored = await runFull(dataDir, ['restore', backup, '--replace'])
    expect(restored).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/journal\.db\.restored cannot be written\. Free some space/),
    })
    expect(await files()).toEqual(before)
    const doctor = startCommand(['doctor', '--json'], { dataDir, under: underSmallLimit })
    const { findings } = JSON.parse((await doctor.ended).stdout) as Report
    expect(findings).toContainEqual({
      ...{ check: 'journal', state: 'fault', hint: null },
      message: expect.stringMatching(/journal\.db cannot be opened: .*Check the disk/),
    })
    const { stdout } = await runCommand(['status', '--json'], { dataDir })
    expect(JSON.parse(stdout)).toMatchObject({ accepted: { all: 1 + report.added } })
  },
)
