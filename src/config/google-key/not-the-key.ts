/**
 * Why a text is not the private key of a service account, and what to do. Never quotes the text.
 */
export interface KeyRefusal {
  /** What is wrong; completes a sentence that begins with the setting's name. */
  readonly problem: string
  readonly hint: string
}

export const copyAgain =
  'Copy it again: the whole private_key of the JSON key file, or the whole file, as it is.'
export const makeKey =
  'Make a JSON key in the Google Cloud console (IAM & Admin, Service Accounts, the account, Keys, Add key), and use that file as it is.'
const takePassphraseOff =
  'Use the key as the JSON key file has it, or take the passphrase off: openssl pkey -in key.pem -out plain.pem'
const setPath =
  'Set SHEETS_CREDENTIALS_FILE to that path, and remove SHEETS_PRIVATE_KEY and SHEETS_CREDENTIALS_EMAIL.'
const needed = 'the key of a service account is needed.'

/**
 * How a wrong key is recognised: by the label of its BEGIN line, or the one that its bytes should have;
 * by the whole text; or, if it is JSON, by its `type`, or by the names of its members.
 */
type KeyTrait = 'label' | 'text' | 'json'

/**
 * What people give instead of the key. A path is one line that begins or ends unlike any key. The first
 * match counts.
 */
const others: readonly (readonly [KeyTrait, RegExp, problem: string, hint: string])[] = [
  [
    'label',
    /^ENCRYPTED$/,
    'is protected by a passphrase, and Rollcall cannot ask for it.',
    takePassphraseOff,
  ],
  ['label', /OPENSSH|SSH2/, 'is an SSH key, not the key of a service account.', makeKey],
  ['label', /PGP/, 'is a PGP key, not the key of a service account.', makeKey],
  ['label', /CERTIFICATE/, 'is a certificate; the private key is needed.', makeKey],
  ['label', /PUBLIC ?KEY/, 'is a public key; the private key is needed.', makeKey],
  ['label', /^PKCS12$/, 'is a P12 key file; a JSON one is needed.', makeKey],
  [
    'text',
    /^(~|\.{1,2})?[\\/][^\n]*$|^[a-z]:[\\/][^\n]*$|^[^\n]*\.(json|pem|p12|key)$/i,
    'is the path of a file, which belongs in SHEETS_CREDENTIALS_FILE.',
    setPath,
  ],
  [
    'text',
    /^[0-9a-f]{40}$/i,
    'is the private_key_id; the private_key beside it is needed.',
    copyAgain,
  ],
  ['text', /^\d{15,25}$/, 'is the client_id of the account; its private_key is needed.', copyAgain],
  [
    'text',
    /^(AIza|GOCSPX-|ya29\.)/,
    'is another kind of Google secret (API key, client secret or token).',
    copyAgain,
  ],
  ['text', /^[<$%{]|^your|^\.+$/i, 'is a placeholder that was not filled in.', copyAgain],
  [
    'text',
    /^[^\s@]+@[^\s@]+$/,
    'is an email address, which belongs in SHEETS_CREDENTIALS_EMAIL.',
    copyAgain,
  ],
  ['json', /\b(installed|web)\b/, `is the file of an OAuth client; ${needed}`, makeKey],
  ['json', /^authorized_user$/, `is the login of a person (gcloud); ${needed}`, makeKey],
  ['json', /^external_account$/, `is for workload identity (external_account); ${needed}`, makeKey],
  ['json', /^impersonated_service_account$/, `is for impersonation; ${needed}`, makeKey],
]

/** Tells what was given instead of the key; undefined when it is not recognised. */
export function notTheKey(by: KeyTrait, given: string): KeyRefusal | undefined {
  const found = others.find(([known, pattern]) => known === by && pattern.test(given))
  return found && { problem: found[2], hint: found[3] }
}
