import { createChallengeWorld } from '../../harness/challenge-world.ts'
import { createGoogleWorld } from '../../harness/google-world.ts'
import { confirming } from '../../harness/pending-world.ts'
import type { StandIns } from './record.ts'

/** Settings that restrict what anybody may do without them. */
const closedSettings = {
  ALLOWED_ORIGINS: 'https://www.example.com',
  ALLOWED_HOSTS: 'signup.example.com',
  TRUST_PROXY: '1',
  API_KEYS: 'correct-horse-battery-staple',
  DEFAULT_SHEET_TAB: 'Letters',
  SHEET_TABS: 'News,Événements',
  BODY_LIMIT_BYTES: '2000',
  BULK_MAX: '3',
  PAGE_TITLE: 'The Letter',
  PAGE_TEXT: 'Once a month.',
  PAGE_BUTTON: 'Send it to me',
  PAGE_ACCENT: '#336699',
  PAGE_LOGO_URL: 'https://cdn.example.com/logo.svg',
  PAGE_LANGUAGE: 'fr',
  PAGE_CONSENT: 'I agree to the [terms](https://www.example.com/terms).',
  PAGE_NAME: 'optional',
}

/** Limits so low that a few requests reach them. */
const limitedSettings = { RATE_LIMIT_PER_MINUTE: '2', TRUST_PROXY: '1', MAX_SHEET_TABS: '1' }

/** A service with some settings. `exchanges/` has the requests that it gets, in order, and their answers. */
export interface World {
  readonly name: string
  readonly env: Readonly<Record<string, string>>
  /** The servers around it. */
  readonly outside?: 'challenge' | 'misconfigured challenge' | 'sheet that is not shared'
}

/** Together they get requests to every path of the service. */
export const worlds: readonly World[] = [
  { name: 'open', env: {} },
  { name: 'closed', env: closedSettings },
  { name: 'limited', env: limitedSettings },
  { name: 'challenged', env: {}, outside: 'challenge' },
  { name: 'misconfigured', env: {}, outside: 'misconfigured challenge' },
  { name: 'blocked', env: {}, outside: 'sheet that is not shared' },
  { name: 'confirming', env: confirming },
]

/** The servers around the service of a world, with the settings for it. */
export interface Surroundings extends AsyncDisposable {
  readonly env: Readonly<Record<string, string>>
  readonly standIns: StandIns
  /** Values that requests can use by their names. */
  readonly kept: Readonly<Record<string, string>>
}

export async function surround({ env, outside }: World): Promise<Surroundings> {
  if (outside === undefined) {
    return { env, standIns: [], kept: {}, [Symbol.asyncDispose]: async () => {} }
  }
  if (outside === 'sheet that is not shared') return aroundUnshared(env)
  return aroundChallenge(env, outside === 'challenge')
}

async function aroundChallenge(env: World['env'], isInOrder: boolean): Promise<Surroundings> {
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

async function aroundUnshared(env: World['env']): Promise<Surroundings> {
  const world = await createGoogleWorld()
  const { id } = world.emulator.createSpreadsheet({})
  return {
    env: { ...env, ...world.env, SHEETS_SHEET_ID: id },
    standIns: [],
    kept: {},
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  }
}
