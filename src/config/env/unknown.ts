import { suggest } from '../../platform/suggest.ts'
import { textOf, type Variables } from '../reader.ts'
import type { Assignment } from './env-file.ts'
import { secretPrefixes, settingNames } from '../settings.ts'

const names: readonly string[] = settingNames
const ourPrefix = /^(SHEETS|CHALLENGE|ROLLCALL)_/i

/** What people and the guides of providers call what our names have. */
const otherWords: readonly (readonly [RegExp, string])[] = [
  [/^ROLLCALL_/, ''],
  [/^(GOOGLE|SPREADSHEET)_/, 'SHEETS_'],
  [/^(TURNSTILE|HCAPTCHA|RECAPTCHA|CAPTCHA)_/, 'CHALLENGE_'],
  [/^(SMTP|EMAIL)_/, 'MAIL_'],
  [/_COLOU?R$/, '_ACCENT'],
]

/** What other programs take from an `.env` file: Google's, Node, npm, Docker and our files of Compose. */
const ofOthers =
  /^((GOOGLE_(CLOUD|API|EXTERNAL_ACCOUNT)|CLOUDSDK|GCLOUD|GCE|NODE|NPM_CONFIG|UV|OPENSSL|SSL|COMPOSE|DOCKER|BUILDKIT)_|(TZ|LANG|NO_COLOR|FORCE_COLOR|(HTTP|HTTPS|NO|ALL)_PROXY|SITE|DATABASE_PASSWORD)$)/i

/**
 * The setting that a name may mean. The environment has the names of many programs: there a short one, or one
 * with another first letter as `DD_LOG_LEVEL`, is near ours by chance.
 */
function meantBy(name: string, isSure: boolean): string | undefined {
  const upper = name.toUpperCase().replaceAll('-', '_')
  const ours = otherWords.reduce((text, [form, word]) => text.replace(form, word), upper)
  if (names.includes(ours)) return ours
  const isNear = (it: string) => isSure || (it.length >= 9 && it.startsWith(upper.charAt(0)))
  const isWhole = isSure ? ours.length > 2 : ours.includes('_')
  const longer = isWhole ? names.find((it) => it.startsWith(ours)) : undefined
  const parent = isSure ? names.find((it) => it.endsWith(`_${ours}`)) : undefined
  return suggest(ours, names.filter(isNear)) ?? longer ?? parent
}

/**
 * Warnings of variables that are no setting: of all that stand in the `.env` file, and of those elsewhere
 * whose names begin or look like ours.
 *
 * @param inFile the assignments of that file
 */
export function misnamed(
  variables: Variables,
  inFile: readonly Pick<Assignment, 'name' | 'line'>[],
): readonly string[] {
  const hasSites = textOf(variables['ROLLCALL_CONFIG']) !== undefined
  return Object.entries(variables).flatMap(([name, value]) => {
    const text = textOf(value)
    if (text === undefined || names.includes(name) || isServiceLink(name, text)) return []
    if (hasSites && secretPrefixes.some((prefix) => name.startsWith(prefix))) return []
    const line = inFile.find((it) => it.name === name)?.line
    const isOurs = ourPrefix.test(name) || line !== undefined
    const meant = meantBy(name, isOurs)
    // If our own setting is set too, even to nothing, a variable of the environment is for another program.
    if (!isOurs && (meant === undefined || variables[meant] !== undefined)) return []
    if (line !== undefined && ofOthers.test(name)) return []
    const advice =
      meant === undefined ? 'docs/configuration.md lists all of them.' : `Did you mean ${meant}?`
    return `${placeOf(name, meant, line)} is no setting of Rollcall, so it does nothing. ${advice}`
  })
}

/** Names the variable by its place alone when its name may be a piece of a key that lost its `=`. */
function placeOf(name: string, meant: string | undefined, line: number | undefined): string {
  const isWords = /^[A-Z]+(_[A-Z0-9]+)*$/.test(name)
  const isShown = isWords || (meant !== undefined && /^[A-Za-z_-]+$/.test(name))
  const prefix = ourPrefix.exec(name)?.[0]
  const place = `A variable of the environment${prefix ? ` that begins with ${prefix}` : ''}`
  if (line === undefined) return isShown ? name : place
  return isShown ? `${name} in line ${line} of .env` : `The name in line ${line} of .env`
}

/**
 * Whether Kubernetes or Docker made the variable to tell where a service is. Its name begins with the
 * service's name, which may be `rollcall` or `sheets`.
 */
function isServiceLink(name: string, text: string): boolean {
  return (
    /_(SERVICE_(HOST|PORT(_\w+)?)|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$/.test(name) ||
    (name.endsWith('_PORT') && /^(tcp|udp|sctp):\/\//.test(text))
  )
}
