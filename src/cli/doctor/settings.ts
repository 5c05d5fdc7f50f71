import type { Check } from './check.ts'

/** Wrong settings never get here: they end the command, with the words that end a start. */
export const settingsCheck: Check = async ({ config }) => {
  const check = 'settings'
  const { warnings } = config
  if (warnings.length === 0) return [{ check, state: 'ok', message: 'can be used' }]
  return warnings.map((message) => ({ check, state: 'warning', message }))
}
