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

/** Reads the challenge. Both keys turn it on, no key leaves it off, and one key alone is refused. */
export function readChallenge(
  reader: SettingsReader,
): { readonly challenge: ChallengeConfig; readonly secret: string } | undefined {
  const provider = reader.withDefault('CHALLENGE_PROVIDER', challengeProvider)
  const verifyUrl = reader.optional('CHALLENGE_VERIFY_URL', httpUrl)
  const scriptUrl = reader.optional('CHALLENGE_SCRIPT_URL', httpUrl)
  const hostnames = reader.optional('CHALLENGE_HOSTNAMES', hostList)

  const [site, other] = ['CHALLENGE_SITE_KEY', 'CHALLENGE_SECRET_KEY'] as const
  if (reader.text(site) === undefined && reader.text(other) === undefined) return undefined
  const ofProvider = (parse: (text: string) => ParsedSetting<string>) => (text: string) =>
    testKeyOfAnother(text, provider) ?? parse(text)
  const siteKey = reader.required(site, ofProvider(parseSiteKey), missing(other, 'site key'))
  const secret = reader.required(other, ofProvider(parseKey), missing(site, 'secret key'))
  if (siteKey === undefined || secret === undefined) return undefined
  return { challenge: { provider, siteKey, verifyUrl, scriptUrl, hostnames }, secret }
}

function missing(other: string, what: string): SettingRefusal {
  return {
    problem: `is missing, and ${other} is set.`,
    expected: `the ${what} of the same site`,
    hint: `Copy it from your challenge provider; or remove ${other} to run without a challenge.`,
  }
}

const providers = ['turnstile', 'hcaptcha', 'recaptcha'] as const

function challengeProvider(text: string): ParsedSetting<(typeof providers)[number]> {
  const value = providers.find((provider) => provider === text.toLowerCase())
  if (value) return { value }
  return {
    problem: 'is not a challenge provider that Rollcall knows.',
    expected: `one of ${providers.join(', ')}`,
    hint: 'For another provider with the same protocol, name the most similar one, and set CHALLENGE_VERIFY_URL and CHALLENGE_SCRIPT_URL.',
  }
}

/** The published test keys of each provider: site keys and secret keys. */
const testKeys: Readonly<Record<(typeof providers)[number], RegExp>> = {
  turnstile: /^[123]x0+[A-F]{2}$/,
  hcaptcha: /^(0x0{40}|[123]0000000-ffff-ffff-ffff-00000000000[123])$/i,
  recaptcha: /^6LeIxAcTAAAAA(JcZVRqyHh71UMIEGNQ_MXjiZKhI|GG-vFI1TnRWxMZNFuojJ4WifJWe)$/,
}

/** Refuses the test key of another provider, because nobody could pass with it. */
function testKeyOfAnother(
  text: string,
  provider: (typeof providers)[number],
): SettingRefusal | undefined {
  const owner = providers.find((name) => testKeys[name].test(text))
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
    hint: 'Leave out https://, ports, paths and wildcards; list each subdomain.',
  }
}

function hostOf(name: string): string | undefined {
  if (/[/?#@:*\\\s%]/.test(name)) return undefined
  return URL.parse(`http://${name}`)?.hostname
}
