import { keyProblem } from '../../config/challenge-keys.ts'
import { secretsOf } from '../../config/secrets.ts'
import { inspectChallenge } from '../../service/inspect.ts'
import type { Check } from './check.ts'

export const challengeCheck: Check = async ({ site, secrets }) => {
  const { challenge, settingNames } = site
  const ofSite = secretsOf(secrets, site)
  const problem =
    challenge &&
    keyProblem(
      challenge.provider,
      challenge.siteKey,
      ofSite.challengeSecret ?? '',
      settingNames.challenge,
    )
  if (problem) return [{ check: 'challenge', state: 'fault', ...problem }]
  return [await inspectChallenge(site, ofSite)]
}
