/** Domains whose mailboxes are one whatever stands behind a plus sign, as their providers say. */
const plusDomains: ReadonlySet<string> = new Set([
  ...['gmail.com', 'outlook.com', 'hotmail.com', 'live.com', 'msn.com', 'icloud.com', 'me.com'],
  ...['mac.com', 'fastmail.com', 'fastmail.fm', 'proton.me', 'protonmail.com', 'pm.me'],
])

/**
 * One spelling for all addresses that are known to reach the same mailbox: in lower case, and without plus
 * signs and dots where the provider ignores them. Only limits may use it: a signup is for its own spelling.
 */
export function mailboxOf(address: string): string {
  const lower = address.toLowerCase()
  const at = lower.lastIndexOf('@')
  const given = lower.slice(at + 1)
  const domain = given === 'googlemail.com' ? 'gmail.com' : given
  if (!plusDomains.has(domain)) return lower
  const plus = lower.indexOf('+')
  const local = lower.slice(0, plus > 0 && plus < at ? plus : at)
  return `${domain === 'gmail.com' ? local.replaceAll('.', '') : local}@${domain}`
}
