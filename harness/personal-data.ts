import { isSecret as isSecretSetting } from '../src/config/settings.ts'

/** Addresses and names of the people that tests make up. None may be logged. */
const people =
  /[^\s"@]+@(?:[\w-]+\.)*(?:example\.(?:com|org|net)|gmail\.com|b\.co)|Lovelace|Hopper|Very Private/i

/** Tokens of the challenge emulator, and access tokens of Google. */
const issuedTokens = /ya29\.|DUMMY\.TOKEN|(?<![\w-])P1_[\w-]{20,}|03AFcWeA|\b0\.[\w-]{100,}/

/** Whether the variable has a secret. A file of sites names further variables for keys of challenges. */
function isSecret(name: string): boolean {
  return isSecretSetting(name) || name.startsWith('CHALLENGE_SECRET_KEY_')
}

/**
 * The printed lines that a service must not print: log lines with an address or name of the tests or with
 * a token, and all lines with a part of a secret that it was started with. The hint at start is
 * no log line, so that it may show a made-up address.
 */
export function personalLines(
  output: string,
  environment: Readonly<Record<string, string>> = {},
): readonly string[] {
  const secrets = Object.entries(environment).flatMap(([name, value]) =>
    isSecret(name) ? partsOf(value) : [],
  )
  return output.split('\n').filter((line) => {
    const isLog = line.startsWith('{')
    if (isLog && (people.test(line) || issuedTokens.test(line))) return true
    return secrets.some((secret) => line.includes(secret))
  })
}

/** The addresses and names of the tests in a text in which none may be, such as standard error. */
export function personalWords(text: string): readonly string[] {
  return text.match(new RegExp(people, 'gi')) ?? []
}

/**
 * The parts of a list or of a key of several lines, because a log may print them apart. Of a URL also its
 * password.
 */
function partsOf(secret: string): readonly string[] {
  const password = URL.parse(secret)?.password ?? ''
  const parts = [...secret.split(/\\n|[\s,"]+/), password, decodeURIComponent(password)]
  return parts.filter((part) => part.length >= 12 && !part.includes('---'))
}
