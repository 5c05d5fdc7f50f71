import { suggest } from '../../signup/suggest.ts'
import type { SettingProblem } from '../problem.ts'
import { textOf, type Variables } from '../reader.ts'
import type { Assignment } from './env-file.ts'
import { secretPrefixes, type SettingName, settingNames } from '../settings.ts'

const names: readonly string[] = settingNames
const ourPrefix = /^(SHEETS|CHALLENGE|ROLLCALL)_/i

/** What people call a setting, and what the guides of the providers call it. */
const otherNames: readonly (readonly [RegExp, SettingName])[] = [
  [/^(GOOGLE_|SPREAD)?SHEET_ID$/, 'SHEETS_SHEET_ID'],
  [/^(TURNSTILE|HCAPTCHA|RECAPTCHA)_SITE_KEY$/, 'CHALLENGE_SITE_KEY'],
  [/^(TURNSTILE|HCAPTCHA|RECAPTCHA)_SECRET_KEY$/, 'CHALLENGE_SECRET_KEY'],
  [/^API_KEY$/, 'API_KEYS'],
  [/^RATE_LIMIT$/, 'RATE_LIMIT_PER_MINUTE'],
  [/^BODY_LIMIT$/, 'BODY_LIMIT_BYTES'],
]

/**
 * The setting that a name may mean. The environment has the names of many programs: a short one, or one
 * with another first letter as `DD_LOG_LEVEL`, is near ours by chance.
 */
function meantBy(name: string, isOurs: boolean): string | undefined {
  const other = otherNames.find(([form]) => form.test(name))?.[1]
  const first = name.charAt(0).toUpperCase()
  const near = names.filter((ours) => isOurs || (ours.length >= 9 && ours.startsWith(first)))
  return other ?? suggest(name.replace(/^ROLLCALL_/i, ''), near)
}

/**
 * Problems for variables whose name is not that of a setting, but begins or looks like one.
 *
 * @param inFile the assignments of the `.env` file
 */
export function misnamed(
  variables: Variables,
  inFile: readonly Pick<Assignment, 'name' | 'line'>[],
): SettingProblem[] {
  const hasSites = textOf(variables['ROLLCALL_CONFIG']) !== undefined
  return Object.entries(variables).flatMap(([name, value]) => {
    const text = textOf(value)
    if (text === undefined || names.includes(name) || isServiceLink(name, text)) return []
    if (hasSites && secretPrefixes.some((prefix) => name.startsWith(prefix))) return []
    const isOurs = ourPrefix.test(name)
    const meant = meantBy(name, isOurs)
    // If our own setting is set too, even to nothing, this variable is for another program.
    if (!isOurs && (meant === undefined || variables[meant] !== undefined)) return []
    return {
      setting: placeOf(name, meant, inFile.find((it) => it.name === name)?.line),
      problem: 'is not a setting of Rollcall.',
      given: 'a value that is not shown',
      expected: meant === undefined ? 'the name of a setting' : `did you mean ${meant}?`,
      hint: isOurs
        ? 'Rename or remove it; docs/configuration.md lists every setting.'
        : `Rename or remove it. If another program needs it, also set ${meant}, which may be empty for its default.`,
    }
  })
}

/**
 * Names the variable only when its name is nearly one of ours, and otherwise its place: the name may be
 * a piece of a key that lost its `=`.
 */
function placeOf(name: string, meant: string | undefined, line: number | undefined): string {
  if (meant !== undefined && /^[A-Za-z_-]+$/.test(name)) return name
  if (line !== undefined) return `.env, line ${line}`
  const prefix = ourPrefix.exec(name)?.[0]
  return `A variable of the environment${prefix ? ` that begins with ${prefix}` : ''}`
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
