import { describeGiven } from '../problem.ts'
import type { SettingProblem } from '../problem.ts'
import { nearest, nearMiss, otherName } from './meant-names.ts'
import { textOf } from '../reader.ts'
import type { Variables } from '../reader.ts'
import { type Setting, settingNames, settings } from '../settings.ts'

const names: readonly string[] = settingNames
const ourPrefix = /^(SHEETS|CHALLENGE|ROLLCALL)_/i
/** Longer names are not compared with ours. */
const comparedCharactersMax = 60

/** Problems for settings that this version does not support. Ignoring them would mislead the operator. */
export function notYetSupported(variables: Variables): SettingProblem[] {
  return settingNames.flatMap((name) => {
    const text = textOf(variables[name])
    const { isPlanned }: Setting = settings[name]
    if (!isPlanned || text === undefined) return []
    return {
      setting: name,
      problem: 'is not supported by this version of Rollcall.',
      given: describeGiven(name, text),
      expected: 'nothing',
      hint: 'Remove it; docs/configuration.md lists what this version supports.',
    }
  })
}

/** Problems and warnings about variables whose name looks like a setting but is not one. */
export interface Slips {
  readonly problems: readonly SettingProblem[]
  /** Sentences about variables that most likely belong to another program. */
  readonly warnings: readonly string[]
}

/**
 * Finds variables whose name looks like one of ours, or is another program's name for the same thing.
 * A name may be a piece of a key that lost its `=`, so it is quoted only when it is nearly one of
 * ours; otherwise only its place is named. A value is never quoted.
 *
 * @param lines the lines of the variables in the `.env` file, all of which are meant for Rollcall
 * @param secretVariables those that a file names for its sites; undefined when there is no such file
 */
export function findSlips(
  variables: Variables,
  lines: ReadonlyMap<string, number>,
  secretVariables?: ReadonlySet<string>,
): Slips {
  const problems: SettingProblem[] = []
  const warnings: string[] = []
  for (const [name, value] of Object.entries(variables)) {
    const text = textOf(value)
    if (text === undefined || names.includes(name) || isServiceLink(name, text)) continue
    if (secretVariables?.has(name)) continue
    const line = lines.get(name)
    if (secretVariables && name.startsWith('CHALLENGE_SECRET_KEY_')) {
      const place = placeOf(name, 'CHALLENGE_SECRET_KEY', line)
      warnings.push(
        `${place} is the secret key of no site: remove it, or name it in the site's challenge.`,
      )
      continue
    }
    const isOurs = ourPrefix.test(name)
    const { meant, isRefused = true } = meaningOf(name, isOurs, line !== undefined)
    // If our own setting is set too, even to nothing, this variable is for another program.
    if (!isOurs && (meant === undefined || variables[meant] !== undefined)) continue
    const setting = placeOf(name, meant, line)
    const hint = `Rename or remove it. If another program needs it, also set ${meant}, which may be empty for its default.`
    if (isRefused) problems.push(slip(setting, meant, isOurs ? undefined : hint))
    else warnings.push(`${setting} is not a setting of Rollcall: did you mean ${meant}? ${hint}`)
  }
  return { problems, warnings }
}

function meaningOf(name: string, isOurs: boolean, isInFile: boolean) {
  if (name.length > comparedCharactersMax) return {}
  if (isOurs) return { meant: nearest(name.toUpperCase().replace(/^ROLLCALL_/, ''), names) }
  const other = otherName(name)
  if (!other) return { meant: nearMiss(name, names) }
  return { meant: other.meant, isRefused: isInFile || other.isRefusedEverywhere }
}

/** Names the variable itself only when the name is nearly one of ours, and otherwise only its place. */
function placeOf(name: string, meant: string | undefined, line: number | undefined): string {
  if (meant !== undefined && /^[A-Za-z_-]+$/.test(name)) return name
  if (line !== undefined) return `.env, line ${line}`
  const prefix = ourPrefix.exec(name)?.[0]
  return `A variable of the environment${prefix ? ` that begins with ${prefix}` : ''}`
}

function slip(
  setting: string,
  meant: string | undefined,
  hint: string | undefined,
): SettingProblem {
  return {
    setting,
    problem: 'is not a setting of Rollcall.',
    given: 'a value that is not shown',
    expected: meant === undefined ? 'the name of a setting' : `did you mean ${meant}?`,
    hint: hint ?? 'Rename or remove it; docs/configuration.md lists every setting.',
  }
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
