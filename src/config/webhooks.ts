import type { SettingsReader } from './reader.ts'
import { readReceiver, type SiteWebhook } from './secrets.ts'
import { settings } from './settings.ts'
import type { Declared } from './sites/sites-file.ts'

/** Gives the webhooks of each site: its own, or that of the environment. Those that were refused are left out. */
export function webhooksOf(
  declared: readonly Declared[],
  reader: SettingsReader,
): (declared: Declared) => readonly SiteWebhook[] {
  const { kind, example } = settings.WEBHOOK_SECRET
  const named = declared.flatMap(([, site]) => site.webhooks ?? [])
  const variables = new Set(named.map(({ secretVariable }) => secretVariable))
  // The variable of the environment's own webhook may have the secret of a site's.
  const isOfSite = variables.has('WEBHOOK_SECRET') && !reader.isSet('WEBHOOK_URL')
  const shared = isOfSite ? undefined : readReceiver(reader, 'WEBHOOK')
  const secrets = new Map(
    Array.from(variables, (variable) => {
      const parsed = kind.parse(reader.text(variable) ?? '', example)
      if ('value' in parsed) return [variable, parsed.value]
      const problem = 'is missing, and a webhook of a site names it.'
      reader.refuse(variable, reader.text(variable) === undefined ? { ...parsed, problem } : parsed)
      return [variable, undefined]
    }),
  )
  return ([, { webhooks }]) =>
    webhooks?.flatMap((it) => ({ ...it, keys: secrets.get(it.secretVariable) ?? [] })) ??
    (shared ? [{ ...shared, secretVariable: 'WEBHOOK_SECRET' }] : [])
}
