import { limits } from './limits.ts'
import { hasUnprintable } from './text.ts'

const { emailCharactersMax: charactersMax, emailLocalCharactersMax: localMax } = limits

const label = '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?'

/** "Valid e-mail address" of the HTML standard, section 4.10.5.1.5; what `type=email` accepts. */
const validEmail = new RegExp(`^[a-zA-Z0-9.!#$%&'*+/=?^_\`{|}~-]+@${label}(?:\\.${label})*$`)

const asciiOnly = /^\p{ASCII}*$/u

/** Characters that a URL parser would drop or would not read as part of the host. */
const notInHost = /[\s/?#:@[\]%\\]/

/** Limits the cost of IDNA, which grows with the square of a label. A longer domain has no ASCII form that fits. */
const typedDomainCharactersMax = 4 * charactersMax

/**
 * The form in which an address is stored: trimmed, the domain lower-cased and in ASCII, the local
 * part as typed. A text that cannot be an address is returned unchanged; `emailProblem` refuses it.
 */
export function storedEmail(typed: string): string {
  const email = typed.trim()
  const at = email.lastIndexOf('@')
  const domain = asciiDomain(email.slice(at + 1))
  return at === -1 || domain === undefined ? email : `${email.slice(0, at)}@${domain}`
}

/** What is wrong with an address in its stored form, and what to do; undefined when it is valid. */
export function emailProblem(email: string): string | undefined {
  if (email === '') return 'The email address is missing.'
  if (email.length > charactersMax) {
    return `The email address is too long: at most ${charactersMax} characters.`
  }
  if (!validEmail.test(email)) return wrongForm
  if (email.indexOf('@') > localMax) {
    return `The part before the @ is too long: at most ${localMax} characters.`
  }
  const lastDot = email.lastIndexOf('.')
  const hasDotInDomain = lastDot > email.indexOf('@')
  if (!hasDotInDomain || /^[0-9]+$/.test(email.slice(lastDot + 1))) return wrongForm
  return undefined
}

const wrongForm = 'Enter an email address such as name@example.com.'

function asciiDomain(domain: string): string | undefined {
  if (asciiOnly.test(domain)) return domain.toLowerCase()
  if (domain.length > typedDomainCharactersMax) return undefined
  if (notInHost.test(domain) || hasUnprintable(domain)) return undefined
  return URL.parse(`http://${domain}`)?.hostname
}
