import type { Check } from './check.ts'

/** Whether the page that somebody tries from may send signups. */
export const originCheck: Check = async ({ config, site, origin }) => {
  const check = 'origins'
  const { allowedOrigins, settingNames } = site
  const { allowedHosts = [] } = config
  const setting = settingNames.origins
  if (allowedOrigins === '*') {
    return [{ check, state: 'ok', message: 'pages of every origin may send signups' }]
  }
  const list = allowedOrigins.join(', ')
  if (origin === undefined) {
    const message = `pages of ${list} may send signups, and the service's own; --origin checks another one`
    return [{ check, state: 'ok', message }]
  }
  const isOwn = allowedHosts.includes(new URL(origin).host)
  if (isOwn || allowedOrigins.includes(origin)) {
    return [{ check, state: 'ok', message: `pages of ${origin} may send signups` }]
  }
  return [
    {
      check,
      state: 'fault',
      message: `pages of ${origin} may not send signups: ${setting} has only ${list}`,
      hint: `Add ${origin} to ${setting} and restart the service, unless that is the address of the service itself.`,
    },
  ]
}
