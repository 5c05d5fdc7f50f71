// @module-tag slow
import { expect, test, vi } from 'vitest'

import { makeSignup } from '../../harness/make-signup.ts'
import { sharePostgresWorlds } from './postgres-world.ts'

const minute = 60 * 1000
const hour = 60 * minute

const createWorld = sharePostgresWorlds()

test('an instance whose clock is ahead deletes no key and no token that another one has stored', async () => {
  await using world = await createWorld()
  await using right = await world.open()
  await using ahead = await world.open()
  const now = Date.now()
  const terms = (name: string) => ({
    keyed: { idempotency: { space: '', key: name, fingerprint: 'A' } },
    shown: { token: name },
  })
  const [first, second] = [terms('first'), terms('second')]
  const at = (receivedAt: number) => [makeSignup({ receivedAt })]

  await right.intake.append(at(now), first.keyed)
  await right.intake.append(at(now), first.shown)
  await ahead.intake.append(at(now + 26 * hour), second.keyed)
  await ahead.intake.append(at(now + 11 * minute), second.shown)

  expect(await right.intake.append(at(now), first.keyed)).toMatchObject({ kind: 'replayed' })
  expect(await right.intake.append(at(now), first.shown)).toEqual({ kind: 'tokenUsed' })
})

test('a forget of a process whose clock is ahead is counted by the clock of the journal', async () => {
  await using world = await createWorld()
  await using journal = await world.open()
  const now = Date.now()
  await journal.intake.append([makeSignup({ receivedAt: now })])
  vi.useFakeTimers({ toFake: ['Date'], now: now + 26 * hour })
  try {
    await journal.erasure.forget(makeSignup().email)
    expect(await journal.erasure.eraseNext(0)).toMatchObject({ unwritten: 1 })
  } finally {
    vi.useRealTimers()
  }
  const erased = await journal.reader.counted(['erased'], now - hour, now + 48 * hour)
  expect(erased.map(({ at }) => at < now + hour)).toEqual([true])
})
