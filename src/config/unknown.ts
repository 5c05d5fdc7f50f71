import { describeGiven } from './problem.ts'
import type { Problem } from './problem.ts'
import { nearMiss } from './near-miss.ts'
import { nearest } from './nearest.ts'
import { textOf } from './reader.ts'
import type { Variables } from './reader.ts'
import { settings } from './settings.ts'

const names: readonly string[] = settings.map((setting) => setting.name)
const ourPrefix = /^(SHEETS|CHALLENGE|ROLLCALL)_/i

/** Settings that are known and that this version does not act on: to ignore them would mislead. */
export function notYetSupported(variables: Variables): Problem[] {
  return settings.flatMap(({ name, supported }) => {
    const text = textOf(variables[name])
    if (supported || text === undefined) return []
    return {
      setting: name,
      problem: 'is not supported by this version of Rollcall.',
      given: describeGiven(name, text),
      expected: 'nothing',
      hint: 'Remove it; docs/configuration.md lists what this version supports.',
    }
  })
}

/**
 * Variables whose name looks like one of ours and is none: probably a slip. Their values are not
 * told.
 */
export function misspelt(variables: Variables): Problem[] {
  return Object.keys(variables).flatMap((name) => {
    const text = textOf(variables[name])
    if (text === undefined || names.includes(name) || isServiceLink(name, text)) return []
    const isOurs = ourPrefix.test(name)
    const meant = isOurs
      ? nearest(name.toUpperCase().replace(/^ROLLCALL_/, ''), names)
      : nearMiss(name, names)
    // Whoever has set both, even to nothing, means another program by this one.
    if (!isOurs && (meant === undefined || variables[meant] !== undefined)) return []
    return {
      setting: name,
      problem: 'is not a setting of Rollcall.',
      given: 'a value that is not shown',
      expected: meant === undefined ? 'the name of a setting' : `did you mean ${meant}?`,
      hint: isOurs
        ? 'Rename or remove it; docs/configuration.md lists every setting.'
        : `Rename or remove it; where another program needs it, set ${meant} too, empty for its default.`,
    }
  })
}

/**
 * Kubernetes and Docker tell every container where a service is, under names that begin with the
 * service's: which may be `rollcall` or `sheets`.
 */
function isServiceLink(name: string, text: string): boolean {
  return (
    /_(SERVICE_(HOST|PORT(_\w+)?)|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$/.test(name) ||
    (name.endsWith('_PORT') && /^(tcp|udp|sctp):\/\//.test(text))
  )
}
