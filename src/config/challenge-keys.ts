import type { ChallengeNames } from '../signup/setting-names.ts'
import type { ChallengeConfig } from './challenge.ts'

type Provider = ChallengeConfig['provider']

/** The form of each provider's keys, site keys and secret keys. */
const forms: Readonly<Record<Provider, RegExp>> = {
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
  const owners = { [names.siteKey]: ownerOf(siteKey), [names.secretKey]: ownerOf(secret) }
  const others = Object.entries(owners).flatMap(([name, owner]) =>
    owner === undefined || owner === provider ? [] : [{ name, owner }],
  )
  const [first] = others
  if (!first) return undefined
  const words = others.map(({ name, owner }) => `${name} looks like a key of ${titles[owner]}`)
  const message = `${words.join(', ')}, and ${names.provider} is ${provider}`
  const areOfOne = others.length === 2 && others.every(({ owner }) => owner === first.owner)
  return {
    message,
    hint: areOfOne
      ? `Set ${names.provider} to ${first.owner}.`
      : `Copy both keys from one site at ${titles[provider]}, or set ${names.provider} to the provider of both.`,
  }
}

function ownerOf(key: string): Provider | undefined {
  return (['turnstile', 'hcaptcha', 'recaptcha'] as const).find((name) => forms[name].test(key))
}
