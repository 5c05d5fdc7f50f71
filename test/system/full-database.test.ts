import { execFileSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import { createDatabaseWorld } from '../../harness/database-world.ts'
import { allDelivered } from '../../harness/delivery-state.ts'
import { addressesInSheet } from '../../harness/google-world.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { startPostgres } from '../../harness/postgres-server.ts'
import { startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'

/** A disk of 128 MB. @throws Error when anybody but root runs the tests */
async function smallDisk() {
  if (process.getuid?.() !== 0)
    throw new Error('Only root may mount a small disk. Run this as root.')
  await using stack = new AsyncDisposableStack()
  const { path } = stack.use(await tempFolder())
  const disk = join(path, 'disk')
  mkdirSync(disk)
  execFileSync('chmod', ['711', path])
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=128m,mode=711', 'none', disk])
  stack.defer(() => void execFileSync('umount', ['--lazy', disk]))
  const filling = join(disk, 'filling')
  const all = stack.move()
  return {
    path: disk,
    fill: () => {
      const file = openSync(filling, 'w')
      expect(() => {
        for (;;) if (writeSync(file, Buffer.alloc(65_536)) < 65_536) throw new Error('ENOSPC')
      }).toThrow('ENOSPC')
      closeSync(file)
    },
    makeRoom: () => rmSync(filling),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

test('when the disk of the database is full signups are refused, and every answered one is a row when there is room', async () => {
  await using disk = await smallDisk()
  await using server = await startPostgres({ folder: disk.path, isDurable: true })
  await using world = await createDatabaseWorld(server)
  await using service = await startService({
    env: { ...world.env, RATE_LIMIT_PER_MINUTE: '0' },
  })
  const answered: string[] = []
  const signUp = async (email: string) => {
    const metadata = { note: 'x'.repeat(9000) }
    const headers = { 'idempotency-key': email }
    const answer = await postSignup(service.url, { email, metadata }, headers)
    await answer.arrayBuffer()
    if (answer.status === 202) answered.push(email)
    return answer
  }
  await signUp('first@example.com')
  disk.fill()
  let refused: Response | undefined
  for (let count = 1; count <= 2000 && !refused; count += 1) {
    const answer = await signUp(`person${count}@example.com`)
    if (answer.status !== 202) refused = answer
  }
  expect(refused?.status).toBe(503)
  expect(refused?.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
  disk.makeRoom()
  // PostgreSQL ends when it cannot write its log.
  await server.stop('immediate')
  await server.start()
  const isTakenAgain = async () => (await signUp('last@example.com')).status
  await expect.poll(isTakenAgain).toBe(202)
  await allDelivered(service)
  const rows = await addressesInSheet(world.google)
  console.log(`${answered.length} signups answered with 2xx, ${rows.length} rows`)
  expect(rows).toEqual(expect.arrayContaining(answered))
  // One signup may have been stored without an answer.
  expect(rows.length - answered.length).toBeLessThanOrEqual(1)
  expect(new Set(rows).size).toBe(rows.length)
})
