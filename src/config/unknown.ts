import { describeGiven } from './problem.ts'
import type { Problem } from './problem.ts'
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
    if (!ourPrefix.test(name) || names.includes(name)) return []
    const text = textOf(variables[name])
    if (text === undefined) return []
    const meant = nearest(name.toUpperCase().replace(/^ROLLCALL_/, ''), names)
    return {
      setting: name,
      problem: 'is not a setting of Rollcall.',
      given: 'a value that is not shown',
      expected: meant === undefined ? 'the name of a setting' : `did you mean ${meant}?`,
      hint: 'Rename or remove it; docs/configuration.md lists every setting.',
    }
  })
}
