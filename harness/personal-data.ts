import { settings } from '../src/config/settings.ts'

/** Of people that the tests make up; wherever one is sent, none may come out in a log. */
const people =
  /[^\s"@]+@(?:[\w-]+\.)*(?:example\.(?:com|org|net)|gmail\.com|b\.co)|Lovelace|Hopper|Very Private/i

/** As the challenge emulator gives them out. */
const challengeTokens = /DUMMY\.TOKEN|P1_[\w-]{20,}|03AFcWeA|\b0\.[\w-]{100,}/

const secretNames = settings
  .filter((setting) => 'secret' in setting)
  .map(({ name }): string => name)

/**
 * What a service has printed that it must not: the log lines with an address or a name of the tests
 * or a challenge token, and every line with a part of a secret that it was started with. The hint
 * for people at start, which is no log, may show a made-up address.
 */
export function personalLines(
  output: string,
  environment: Readonly<Record<string, string>> = {},
): readonly string[] {
  const secrets = secretNames.flatMap((name) => partsOf(environment[name] ?? ''))
  return output.split('\n').filter((line) => {
    const isLog = line.startsWith('{')
    if (isLog && (people.test(line) || challengeTokens.test(line))) return true
    return secrets.some((secret) => line.includes(secret))
  })
}

/** Lists and keys of several lines come apart in a log; each part that is long enough is searched. */
function partsOf(secret: string): readonly string[] {
  return secret.split(/\\n|[\s,"]+/).filter((part) => part.length >= 12 && !part.includes('---'))
}
