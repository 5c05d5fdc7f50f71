import { createPrivateKey } from 'node:crypto'
import { keyProblem } from '../../config/challenge-keys.ts'
import { secretsOf } from '../../config/secrets.ts'
import { inspectChallenge, inspectSpreadsheet } from '../../service/inspect.ts'
import type { Check } from './check.ts'

/** Wrong settings never get here: they end the command, with the words that end a start. */
export const settingsCheck: Check = async ({ config }) => {
  const check = 'settings'
  const { warnings } = config
  if (warnings.length === 0) return [{ check, state: 'ok', message: 'can be used' }]
  return warnings.map((message) => ({ check, state: 'warning', message }))
}

/** A text that is no RSA key never gets here: it is a problem of the settings. */
export const keyCheck: Check = async ({ site, secrets }) => {
  const { spreadsheet } = site
  const { privateKey } = secretsOf(secrets, site)
  if (spreadsheet.kind !== 'google' || privateKey === undefined) return []
  const bits = createPrivateKey(privateKey).asymmetricKeyDetails?.modulusLength ?? 0
  const message = `is an RSA key of ${bits} bits, for ${spreadsheet.credentials.email}`
  return [{ check: 'key', state: 'ok', message }]
}

/** From the clock and the access token to the room in the spreadsheet. */
export const spreadsheetCheck: Check = ({ config: { dataDir }, site, secrets, journal, session }) =>
  inspectSpreadsheet({
    site,
    secrets: secretsOf(secrets, site),
    dataDir,
    journal: journal.kind === 'open' ? journal.journal : undefined,
    signal: session.stop,
    waits: (ms) => session.notes.tell(`Waiting ${Math.ceil(ms / 1000)} s for the quota.`),
  })

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

/** Whether the page that somebody tries from may send signups. */
export const originCheck: Check = async ({ config, site, origin }) => {
  const check = 'origins'
  const { origins, settingNames } = site
  const { allowedHosts = [] } = config
  const setting = settingNames.origins
  if (origins === '*') {
    return [{ check, state: 'ok', message: 'pages of every origin may send signups' }]
  }
  const list = origins.join(', ')
  if (origin === undefined) {
    const message = `pages of ${list} may send signups, and the service's own; --origin checks another one`
    return [{ check, state: 'ok', message }]
  }
  const isOwn = allowedHosts.includes(new URL(origin).host)
  if (isOwn || origins.includes(origin)) {
    return [{ check, state: 'ok', message: `pages of ${origin} may send signups` }]
  }
  return [
    {
      check,
      state: 'fault',
      message: `pages of ${origin} may not send signups: ${setting} has only ${list}`,
      hint: `Add ${origin} to ${setting} and restart the service, unless that is the address of the service itself.`,
    },
  ]
}
