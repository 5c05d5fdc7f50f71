import { createChallengeWorld } from '../../harness/challenge-world.ts'
import { createGoogleWorld } from '../../harness/google-world.ts'
import type { AskedWorld } from './asked.ts'
import type { StandIns } from './record.ts'

/** The servers around the service of a world, with the settings for it. */
export interface Surroundings extends AsyncDisposable {
  readonly env: Readonly<Record<string, string>>
  readonly standIns: StandIns
  /** Values that requests can use by their names. */
  readonly kept: Readonly<Record<string, string>>
}

export async function surround({ env, outside = 'nothing' }: AskedWorld): Promise<Surroundings> {
  switch (outside) {
    case 'nothing':
      return { env, standIns: [], kept: {}, [Symbol.asyncDispose]: async () => {} }
    case 'challenge':
    case 'misconfigured challenge':
      return aroundChallenge(env, outside === 'challenge')
    case 'sheet that is not shared':
      return aroundUnshared(env)
  }
}

async function aroundChallenge(env: AskedWorld['env'], isInOrder: boolean): Promise<Surroundings> {
  const world = await createChallengeWorld()
  return {
    env: {
      ...env,
      ...world.env,
      ...(!isInOrder && { CHALLENGE_SECRET_KEY: '0x4AAAAAAAno-secret-of-any-site0000000' }),
    },
    standIns: [
      [world.emulator.url, 'http://challenge.example'],
      [world.site.siteKey, '<site key>'],
    ],
    kept: { token: world.token() },
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  }
}

async function aroundUnshared(env: AskedWorld['env']): Promise<Surroundings> {
  const world = await createGoogleWorld()
  const { id } = world.emulator.createSpreadsheet({})
  return {
    env: { ...env, ...world.env, SHEETS_SHEET_ID: id },
    standIns: [],
    kept: {},
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  }
}
