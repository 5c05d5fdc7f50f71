import { ownerOf, type ProviderName, providers } from '../challenge/providers.ts'
import type { SettingNames } from '../platform/setting-names.ts'
import { type Refusal, text, Wrong } from './kind.ts'
import type { SettingsReader } from './reader.ts'
import { settingNames } from './settings.ts'
import type { DeclaredSite } from './sites/site-schema.ts'

/** The challenge that visitors have to pass. `altcha` is our own proof of work. */
export type ChallengeConfig = ProviderConfig | { readonly provider: 'altcha' }

/** The challenge of a provider; its secret key is in `Secrets`. */
export interface ProviderConfig {
  readonly provider: ProviderName
  readonly siteKey: string
  /** Has no slash at the end; undefined means the provider's own address. */
  readonly verifyUrl: string | undefined
  readonly scriptUrl: string | undefined
  /** Host names as browsers write them; undefined allows any. */
  readonly hostnames: readonly string[] | undefined
}

/** A challenge that is on, with its secret key if it needs one. */
export interface Challenged {
  readonly challenge: ChallengeConfig
  readonly secret?: string
}

/**
 * Reads the challenge of a site. Both keys turn it on, none leaves it off, and one alone is refused. `altcha`
 * is on without keys.
 *
 * @param own the challenge that the site has of its own; undefined reads that of the environment
 */
export function readChallenge(
  reader: SettingsReader,
  own?: DeclaredSite['challenge'],
): Challenged | undefined {
  const provider = reader.value('CHALLENGE_PROVIDER')
  if (provider === 'altcha') {
    const needless = notForAltcha(own ? 'provider' : 'CHALLENGE_PROVIDER')
    for (const key of Object.keys(own ?? {}).filter((it) => it !== 'provider'))
      reader.refuseAt(['challenge', key], needless)
    for (const name of own ? [] : ofProviders) if (reader.isSet(name)) reader.refuse(name, needless)
    return { challenge: { provider } }
  }
  if (!own) reader.bothOrNeither('CHALLENGE_SITE_KEY', 'CHALLENGE_SECRET_KEY')
  const variable = own ? own.secretKeyVariable : 'CHALLENGE_SECRET_KEY'
  if (variable === undefined || (own && own.siteKey === undefined)) return undefined
  const siteKey = reader.read('CHALLENGE_SITE_KEY', keyKind(provider, publicKey))
  const reason = ', and the challenge of a site names it'
  const secretKind = keyKind(provider, anyKey)
  const secret = own
    ? reader.required(variable, secretKind, reason)
    : reader.read(variable, secretKind)
  if (siteKey === undefined || secret === undefined) return undefined
  const isSame = provider === reader.around.value('CHALLENGE_PROVIDER')
  return {
    secret,
    challenge: {
      ...{ provider, siteKey, hostnames: reader.value('CHALLENGE_HOSTNAMES') },
      // The addresses of the environment are those of its provider.
      verifyUrl: isSame ? reader.value('CHALLENGE_VERIFY_URL') : undefined,
      scriptUrl: isSame ? reader.value('CHALLENGE_SCRIPT_URL') : undefined,
    },
  }
}

/** What only the challenge of a provider has. */
const ofProviders = settingNames.filter((it) => /^CHALLENGE_(?!PROVIDER)/.test(it))

/** @param provider what the operator calls the setting of the provider */
function notForAltcha(provider: string): Refusal {
  return {
    problem: 'is set, and the challenge is altcha, which has no use for it.',
    expected: 'nothing',
    hint: `Remove it; or set ${provider} to the provider that it belongs to.`,
  }
}

/** A key of this provider. Test keys of another one are refused, because nobody could pass with them. */
function keyKind(provider: ProviderName, check: (key: string) => string | Wrong | undefined) {
  const form = 'a key of a challenge: up to 200 visible ASCII characters without spaces'
  const read = (key: string) => {
    const owner = ownerOf(key, 'testKeys') ?? provider
    if (owner === provider) return check(key)
    return new Wrong(
      `is a test key of ${owner}, and the challenge is of ${provider}.`,
      `Set CHALLENGE_PROVIDER=${owner}, or use both keys of your own site at ${provider}.`,
    )
  }
  return text(form, read, 'Copy it again from your challenge provider.')
}

function anyKey(it: string): string | undefined {
  return /^[\x21-\x7e]{1,200}$/.test(it) ? it : undefined
}

/** Matches secret keys that cannot be site keys. reCAPTCHA's two keys look alike, so they never match. */
const secretForm = /^([123]x0{31}AA|ES_.*|0x[0-9a-f]{40})$/i

function publicKey(it: string): string | Wrong | undefined {
  if (!secretForm.test(it)) return anyKey(it)
  return new Wrong(
    'holds a secret key, which every visitor could read there.',
    'Put the site key here and the secret key into CHALLENGE_SECRET_KEY.',
  )
}

/**
 * What is wrong when the form of a key shows that it belongs to another provider. Undefined when
 * nothing shows it. A start does not refuse such keys, because providers may change their forms.
 */
export function keyProblem(
  provider: ProviderName,
  siteKey: string,
  secret: string,
  names: SettingNames,
): { readonly message: string; readonly hint: string } | undefined {
  const owners = [siteKey, secret].map((key) => ownerOf(key, 'keys'))
  const words = [names.CHALLENGE_SITE_KEY, names.CHALLENGE_SECRET_KEY].flatMap((name, at) => {
    const owner = owners[at] ?? provider
    return owner === provider ? [] : [`${name} looks like a key of ${providers[owner].title}`]
  })
  if (words.length === 0) return undefined
  const message = `${words.join(', ')}, and ${names.CHALLENGE_PROVIDER} is ${provider}`
  const [first, second] = owners
  const hint =
    first !== undefined && first === second
      ? `Set ${names.CHALLENGE_PROVIDER} to ${first}.`
      : `Copy both keys from one site at ${providers[provider].title}, or set ${names.CHALLENGE_PROVIDER} to the provider of both.`
  return { message, hint }
}
