import { loadConfig } from '../src/config/config.ts'
import { ConfigError } from '../src/config/problem.ts'
import type { Variables } from '../src/config/reader.ts'

/** The configuration and the secrets of a service with these variables, which has no files. */
export function loadSettings(variables: Variables) {
  return loadConfig({ variables, folder: '/app', readText: () => '' })
}

/** All that is wrong with these variables, and the message with which a service would end. */
export function refusalOf(variables: Variables): Pick<ConfigError, 'problems' | 'message'> {
  try {
    loadSettings(variables)
  } catch (error) {
    if (error instanceof ConfigError) return error
    throw error
  }
  return { problems: [], message: 'accepted' }
}

/** Each thing that is wrong with these variables, in a line. */
export function problemsOf(variables: Variables): readonly string[] {
  return refusalOf(variables).problems.map(({ setting, problem }) => `${setting} ${problem}`)
}
