import { type Finding, findingsOf } from '../platform/finding.ts'
import type { SettingNames } from '../platform/setting-names.ts'
import type { Challenge } from './challenge.ts'
import { type ProviderName, providers } from './providers.ts'

const { ok, warning, fault } = findingsOf('challenge')

/** Asks the provider of the challenge about a made-up token: its answer tells whether it knows the secret key. */
export async function inspectChallenge(
  challenge: Challenge,
  provider: ProviderName,
  names: SettingNames,
): Promise<Finding> {
  const { title } = providers[provider]
  if (challenge.isForTests) {
    const hint = `Make a site at ${title}, and set ${names.CHALLENGE_SITE_KEY} and ${names.CHALLENGE_SECRET_KEY} to its two keys.`
    return warning(`has the test keys of ${title}: they keep no bot out`, hint)
  }
  const attempt = { token: 'rollcall-doctor', submissionId: crypto.randomUUID() }
  const verdict = await challenge.verify(attempt)
  switch (verdict.kind) {
    case 'misconfigured':
      return fault(verdict.message, verdict.hint)
    case 'unavailable':
      return fault(
        verdict.message,
        'Check that this machine reaches the provider, and CHALLENGE_VERIFY_URL if you have set it. ' +
          'Until then signups are answered with 503.',
      )
    case 'passed':
    case 'rejected':
      return ok(`${title} knows the secret key`)
  }
}
