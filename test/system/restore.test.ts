import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FastClock } from '../../harness/fast-clock.ts'
import { addressesInSheet, createGoogleWorld } from '../../harness/google-world.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { runCommand } from '../../harness/run-command.ts'
import { startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'

const minute = 60_000
const person = (name: string) => `${name}@example.com`

test('after a restore nobody gets a second row, not even by a call from before that Google applies after the next start', async () => {
  const clock = new FastClock(8)
  await using google = await createGoogleWorld({ clock, quota: 'strict' })
  await using folder = await tempFolder()
  const options = () => ({
    dataDir: join(folder.path, 'data'),
    env: { ...google.env, ...clock.environment() },
  })
  const backup = join(folder.path, 'backup')
  const { faults, log } = google.emulator
  const rowsOf = async () => (await addressesInSheet(google)).toSorted()
  const hasRows = async (count: number) => (await rowsOf()).length === count
  let heldAt: number
  {
    await using service = await startService(options())
    const signUp = (name: string) => postSignup(service.url, { email: person(name) })
    await signUp('ada')
    await expect.poll(() => hasRows(1)).toBe(true)

    faults.add({ on: 'write', times: Infinity })
    await signUp('bob')
    await signUp('eve')
    expect(await runCommand(['backup', backup], options())).toMatchObject({ code: 0 })

    // The next batch gets no answer and is applied 150 s later. Then Google is out of reach.
    const before = log.calls().length
    faults.clear()
    faults.add({
      on: 'write',
      times: 1,
      apply: 'later',
      applyAfterMs: 2.5 * minute,
      answer: 'drop',
    })
    faults.add({ on: 'any', times: Infinity })
    await expect.poll(() => log.calls().length).toBeGreaterThan(before + 1)
    heldAt = clock.now()
    await service.kill()
  }
  const { stdout } = await runCommand(['restore', backup, '--replace'], options())
  expect(stdout).toContain('3 signups, of which 2 wait')
  faults.clear()
  expect(await rowsOf()).toEqual([person('ada')])

  await using service = await startService(options())
  await postSignup(service.url, { email: person('zoe') })
  await clock.until(heldAt + 6 * minute)
  await expect.poll(() => hasRows(4)).toBe(true)
  expect(await rowsOf()).toEqual(['ada', 'bob', 'eve', 'zoe'].map(person))
  expect(await runCommand(['verify'], options())).toMatchObject({ code: 0 })
})
