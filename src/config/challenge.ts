import type { ConfigAnswer } from '../signup/wire.ts'
import type { ParsedSetting, SettingRefusal } from './refusal.ts'
import type { SettingsReader } from './reader.ts'
import { challengeProviders } from './settings.ts'

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
    provider: reader.value('CHALLENGE_PROVIDER'),
    verifyUrl: reader.value('CHALLENGE_VERIFY_URL'),
    scriptUrl: reader.value('CHALLENGE_SCRIPT_URL'),
    hostnames: reader.value('CHALLENGE_HOSTNAMES'),
  }
}

/** Reads the keys. Both turn the challenge on, none leaves it off, and one alone is refused. */
export function readChallenge(
  reader: SettingsReader,
  terms: ChallengeTerms,
): Challenged | undefined {
  const { siteKey: parseSite, secret: parseSecret } = keyParsers(terms.provider)
  reader.bothOrNeither('CHALLENGE_SITE_KEY', 'CHALLENGE_SECRET_KEY')
  const siteKey = reader.optional('CHALLENGE_SITE_KEY', parseSite)
  const secret = reader.optional('CHALLENGE_SECRET_KEY', parseSecret)
  if (siteKey === undefined || secret === undefined) return undefined
  return { challenge: { ...terms, siteKey }, secret }
}

/** How the two keys are read. Test keys of another provider are refused, because nobody could pass with them. */
export function keyParsers(provider: ChallengeConfig['provider']) {
  const ofProvider = (parse: (text: string) => ParsedSetting<string>) => (text: string) =>
    testKeyOfAnother(text, provider) ?? parse(text)
  return { siteKey: ofProvider(parseSiteKey), secret: ofProvider(parseKey) }
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
