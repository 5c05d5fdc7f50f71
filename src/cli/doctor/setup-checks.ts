import { createPrivateKey } from 'node:crypto'
import { secretsOf } from '../../config/secrets.ts'
import { findingsOf } from '../../signup/finding.ts'
import type { Check } from './check.ts'

/** Wrong settings never get here: they end the command, with the words that end a start. */
export const settingsCheck: Check = async ({ config: { warnings } }) => {
  const { ok, warning } = findingsOf('settings')
  return warnings.length === 0 ? [ok('can be used')] : warnings.map((it) => warning(it))
}

/** A text that is no RSA key never gets here: it is a problem of the settings. */
export const keyCheck: Check = async ({ site, secrets }) => {
  const { spreadsheet } = site
  const { privateKey } = secretsOf(secrets, site)
  if (spreadsheet.kind !== 'google' || privateKey === undefined) return []
  const bits = createPrivateKey(privateKey).asymmetricKeyDetails?.modulusLength ?? 0
  const { email } = spreadsheet.credentials
  return [findingsOf('key').ok(`is an RSA key of ${bits} bits, for ${email}`)]
}

/** Whether the page that somebody tries from may send signups. */
export const originCheck: Check = async ({ config, site, origin }) => {
  const { ok, fault } = findingsOf('origins')
  const { origins, settingNames } = site
  const setting = settingNames.origins
  if (origins === '*') return [ok('pages of every origin may send signups')]
  const list = origins.join(', ')
  if (origin === undefined) {
    const end = "and the service's own; --origin checks another one"
    return [ok(`pages of ${list} may send signups, ${end}`)]
  }
  const isOwn = config.allowedHosts?.includes(new URL(origin).host)
  if (isOwn || origins.includes(origin)) {
    return [ok(`pages of ${origin} may send signups`)]
  }
  return [
    fault(
      `pages of ${origin} may not send signups: ${setting} has only ${list}`,
      `Add ${origin} to ${setting} and restart the service, unless that is the address of the service itself.`,
    ),
  ]
}
