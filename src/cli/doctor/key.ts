import { createPrivateKey } from 'node:crypto'
import { secretsOf } from '../../config/secrets.ts'
import type { Check } from './check.ts'

/** A text that is no RSA key never gets here: it is a problem of the settings. */
export const keyCheck: Check = async ({ site, secrets }) => {
  const { spreadsheet } = site
  const { privateKey } = secretsOf(secrets, site)
  if (spreadsheet.kind !== 'google' || privateKey === undefined) return []
  const bits = createPrivateKey(privateKey).asymmetricKeyDetails?.modulusLength ?? 0
  const message = `is an RSA key of ${bits} bits, for ${spreadsheet.credentials.email}`
  return [{ check: 'key', state: 'ok', message }]
}
