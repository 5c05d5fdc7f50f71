import type { ConfigAnswer } from '../signup/wire.ts'
import type { ParsedSetting, SettingRefusal } from './problem.ts'
import type { SettingsReader } from './reader.ts'
import { httpUrl } from './values.ts'

/** The challenge that visitors have to pass; its secret key is in `Secrets`. */
export interface ChallengeConfig {
  readonly provider: ConfigAnswer['challengeProvider']
  readonly siteKey: string
  /** Has no slash at the end; undefined means the provider's own address. */
  readonly verifyUrl: string | undefined
  readonly scriptUrl: string | undefined
  /** Host names as browsers write them; undefined allows any. */
  readonly hostnames: readonly string[] | undefined
}

/** What a challenge has besides its keys. */
export type ChallengeTerms = Omit<ChallengeConfig, 'siteKey'>

/** A challenge that is on, with its secret key. */
export interface Challenged {
  readonly challenge: ChallengeConfig
  readonly secret: string
}

export function readChallengeTerms(reader: SettingsReader): ChallengeTerms {
  return {
    provider: reader.withDefault('CHALLENGE_PROVIDER', challengeProvider),
    verifyUrl: reader.optional('CHALLENGE_VERIFY_URL', httpUrl),
    scriptUrl: reader.optional('CHALLENGE_SCRIPT_URL', httpUrl),
    hostnames: reader.optional('CHALLENGE_HOSTNAMES', hostList),
  }
}

/** Reads the keys. Both turn the challenge on, none leaves it off, and one alone is refused. */
export function readChallenge(
  reader: SettingsReader,
  terms: ChallengeTerms,
): Challenged | undefined {
  const [site, other] = ['CHALLENGE_SITE_KEY', 'CHALLENGE_SECRET_KEY'] as const
  if (reader.text(site) === undefined && reader.text(other) === undefined) return undefined
  const { siteKey: parseSite, secret: parseSecret } = keyParsers(terms.provider)
  const siteKey = reader.required(site, parseSite, missing(other, 'site key'))
  const secret = reader.required(other, parseSecret, missing(site, 'secret key'))
  if (siteKey === undefined || secret === undefined) return undefined
  return { challenge: { ...terms, siteKey }, secret }
}

/** How the two keys are read. Test keys of another provider are refused, because nobody could pass with them. */
export function keyParsers(provider: ChallengeConfig['provider']) {
  const ofProvider = (parse: (text: string) => ParsedSetting<string>) => (text: string) =>
    testKeyOfAnother(text, provider) ?? parse(text)
  return { siteKey: ofProvider(parseSiteKey), secret: ofProvider(parseKey) }
}

function missing(other: string, what: string): SettingRefusal {
  return {
    problem: `is missing, and ${other} is set.`,
    expected: `the ${what} of the same site`,
    hint: `Copy it from your challenge provider; or remove ${other} to run without a challenge.`,
  }
}

export const challengeProviders = ['turnstile', 'hcaptcha', 'recaptcha'] as const

function challengeProvider(text: string): ParsedSetting<(typeof challengeProviders)[number]> {
  const value = challengeProviders.find((provider) => provider === text.toLowerCase())
  if (value) return { value }
  return {
    problem: 'is not a challenge provider that Rollcall knows.',
    expected: `one of ${challengeProviders.join(', ')}`,
    hint: 'For another provider with the same protocol, name the most similar one, and set CHALLENGE_VERIFY_URL and CHALLENGE_SCRIPT_URL.',
  }
}

/** The published test keys of each provider: site keys and secret keys. */
const testKeys: Readonly<Record<(typeof challengeProviders)[number], RegExp>> = {
  turnstile: /^[123]x0+[A-F]{2}$/,
  hcaptcha: /^(0x0{40}|[123]0000000-ffff-ffff-ffff-00000000000[123])$/i,
  recaptcha: /^6LeIxAcTAAAAA(JcZVRqyHh71UMIEGNQ_MXjiZKhI|GG-vFI1TnRWxMZNFuojJ4WifJWe)$/,
}

function testKeyOfAnother(
  text: string,
  provider: (typeof challengeProviders)[number],
): SettingRefusal | undefined {
  const owner = challengeProviders.find((name) => testKeys[name].test(text))
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

/** Parses host names with commas between them; gives each as browsers write it. */
function hostList(text: string): ParsedSetting<readonly string[]> {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  const hosts = names.map(hostOf).filter((host) => host !== undefined)
  if (hosts.length === names.length && hosts.length > 0) return { value: [...new Set(hosts)] }
  return {
    problem: 'has an entry that is not a host name.',
    expected: 'host names with commas between them, such as example.com,www.example.com',
    hint: hostHint,
  }
}

/** Parses one host name; gives it as browsers write it. */
export function challengeHost(text: string): ParsedSetting<string> {
  const value = hostOf(text)
  if (value !== undefined) return { value }
  return {
    problem: 'is not a host name.',
    expected: 'a host name, such as www.example.com',
    hint: hostHint,
  }
}

const hostHint = 'Leave out https://, ports, paths and wildcards; list each subdomain.'

function hostOf(name: string): string | undefined {
  if (/[/?#@:;*\\\s%]/.test(name)) return undefined
  return URL.parse(`http://${name}`)?.hostname
}
