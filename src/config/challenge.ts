import type { ChallengeNames } from '../signup/setting-names.ts'
import type { ParsedSetting, SettingRefusal } from './refusal.ts'
import type { SettingsReader } from './reader.ts'
import { challengeProviders, settingNames } from './settings.ts'

type AnyProvider = (typeof challengeProviders)[number]
/** The providers whose challenge needs two keys. */
type Provider = Exclude<AnyProvider, 'altcha'>

/** The challenge that visitors have to pass. `altcha` is our own proof of work. */
export type ChallengeConfig = ProviderConfig | { readonly provider: 'altcha' }

/** The challenge of a provider; its secret key is in `Secrets`. */
export interface ProviderConfig {
  readonly provider: Provider
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
 * Reads the keys. Both turn the challenge on, none leaves it off, and one alone is refused. `altcha` is on
 * without keys.
 *
 * @param isKeyOfSite whether the variable of the secret key has the one of a site in the file
 */
export function readChallenge(
  reader: SettingsReader,
  terms: Omit<ProviderConfig, 'provider' | 'siteKey'> & { readonly provider: AnyProvider },
  isKeyOfSite: boolean,
): Challenged | undefined {
  const { provider } = terms
  if (provider === 'altcha') {
    for (const name of ofProviders) {
      const isOfSite = isKeyOfSite && name === 'CHALLENGE_SECRET_KEY'
      if (reader.isSet(name) && !isOfSite) reader.refuse(name, notForAltcha('CHALLENGE_PROVIDER'))
    }
    return { challenge: { provider } }
  }
  if (isKeyOfSite) return undefined
  const { siteKey: parseSite, secret: parseSecret } = keyParsers(provider)
  reader.bothOrNeither('CHALLENGE_SITE_KEY', 'CHALLENGE_SECRET_KEY')
  const siteKey = reader.optional('CHALLENGE_SITE_KEY', parseSite)
  const secret = reader.optional('CHALLENGE_SECRET_KEY', parseSecret)
  if (siteKey === undefined || secret === undefined) return undefined
  return { challenge: { ...terms, provider, siteKey }, secret }
}

/** What only the challenge of a provider has. */
const ofProviders = settingNames.filter((it) => /^CHALLENGE_(?!PROVIDER)/.test(it))

/** @param provider what the operator calls the setting of the provider */
export function notForAltcha(provider: string): SettingRefusal {
  return {
    problem: 'is set, and the challenge is altcha, which has no use for it.',
    expected: 'nothing',
    hint: `Remove it; or set ${provider} to the provider that it belongs to.`,
  }
}

/** How the two keys are read. Test keys of another provider are refused, because nobody could pass with them. */
export function keyParsers(provider: Provider) {
  const ofProvider = (parse: (text: string) => ParsedSetting<string>) => (text: string) =>
    testKeyOfAnother(text, provider) ?? parse(text)
  return { siteKey: ofProvider(parseSiteKey), secret: ofProvider(parseKey) }
}

type Forms = Readonly<Record<Provider, RegExp>>

const keyedProviders = challengeProviders.filter((name) => name !== 'altcha')

function ownerOf(key: string, forms: Forms): Provider | undefined {
  return keyedProviders.find((name) => forms[name].test(key))
}

/** The published test keys of each provider: site keys and secret keys. */
const testKeys: Forms = {
  turnstile: /^[123]x0+[A-F]{2}$/,
  hcaptcha: /^(0x0{40}|[123]0000000-ffff-ffff-ffff-00000000000[123])$/i,
  recaptcha: /^6LeIxAcTAAAAA(JcZVRqyHh71UMIEGNQ_MXjiZKhI|GG-vFI1TnRWxMZNFuojJ4WifJWe)$/,
}

function testKeyOfAnother(text: string, provider: Provider): SettingRefusal | undefined {
  const owner = ownerOf(text, testKeys)
  if (owner === undefined || owner === provider) return undefined
  return {
    problem: `is a test key of ${owner}, and the challenge is of ${provider}.`,
    expected: `a key of ${provider}`,
    hint: `Set CHALLENGE_PROVIDER=${owner}, or use both keys of your own site at ${provider}.`,
  }
}

function parseKey(text: string): ParsedSetting<string> {
  if (/^[\x21-\x7e]{1,200}$/.test(text)) return { value: text }
  return {
    problem: 'is not a key.',
    expected: 'up to 200 visible ASCII characters without spaces',
    hint: 'Copy it again from your challenge provider.',
  }
}

/** Matches secret keys that cannot be site keys. reCAPTCHA's two keys look alike, so they never match. */
const secretForm = /^([123]x0{31}AA|ES_.*|0x[0-9a-f]{40})$/i

function parseSiteKey(text: string): ParsedSetting<string> {
  if (!secretForm.test(text)) return parseKey(text)
  return {
    problem: 'holds a secret key, which every visitor could read there.',
    expected: 'the site key, which is public',
    hint: 'Put the site key here and the secret key into CHALLENGE_SECRET_KEY.',
  }
}

/** The form of each provider's keys, site keys and secret keys. */
const keyForms: Forms = {
  turnstile: /^0x4AAAA[\w-]+$/,
  hcaptcha: /^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|ES_\w+|0x[0-9a-f]{40})$/,
  recaptcha: /^6L[\w-]{38}$/,
}

const titles: Readonly<Record<Provider, string>> = {
  turnstile: 'Turnstile',
  hcaptcha: 'hCaptcha',
  recaptcha: 'reCAPTCHA',
}

/**
 * What is wrong when the form of a key shows that it belongs to another provider. Undefined when
 * nothing shows it. A start does not refuse such keys, because providers may change their forms.
 */
export function keyProblem(
  provider: Provider,
  siteKey: string,
  secret: string,
  names: ChallengeNames,
): { readonly message: string; readonly hint: string } | undefined {
  const owners = [ownerOf(siteKey, keyForms), ownerOf(secret, keyForms)]
  const words = [names.siteKey, names.secretKey].flatMap((name, at) => {
    const owner = owners[at] ?? provider
    return owner === provider ? [] : [`${name} looks like a key of ${titles[owner]}`]
  })
  if (words.length === 0) return undefined
  const message = `${words.join(', ')}, and ${names.provider} is ${provider}`
  const [first, second] = owners
  const hint =
    first !== undefined && first === second
      ? `Set ${names.provider} to ${first}.`
      : `Copy both keys from one site at ${titles[provider]}, or set ${names.provider} to the provider of both.`
  return { message, hint }
}
