import type { SettingsReader } from './reader.ts'
import type { SettingRefusal } from './refusal.ts'
import { readReceiver, type SiteWebhook } from './secrets.ts'
import { settings } from './settings.ts'
import type { Declared } from './sites/sites-file.ts'

type Refuse = (path: readonly PropertyKey[], refusal: SettingRefusal) => void

/** Gives the webhooks of each site: its own, or that of the environment. Those that were refused are left out. */
export function webhooksOf(
  declared: readonly Declared[],
  reader: SettingsReader,
  refuse: Refuse,
): (declared: Declared) => readonly SiteWebhook[] {
  const { kind, example } = settings.WEBHOOK_SECRET
  // The variable of the environment's own webhook may have the secret of a site's.
  const isOfSite =
    !reader.isSet('WEBHOOK_URL') &&
    declared.some(([, { webhooks = [] }]) =>
      webhooks.some((it) => it.secretVariable === 'WEBHOOK_SECRET'),
    )
  const shared = isOfSite ? undefined : readReceiver(reader, 'WEBHOOK')

  return ([name, { webhooks }]) => {
    if (!webhooks) return shared ? [{ ...shared, secretVariable: 'WEBHOOK_SECRET' }] : []
    return webhooks.flatMap(({ url, secretVariable }, at) => {
      const text = reader.text(secretVariable)
      if (text === undefined) {
        refuse([name, 'webhooks', at, 'secretVariable'], missingSecret(secretVariable))
        return []
      }
      const secret = kind.parse(text, example)
      if ('value' in secret) return [{ url, keys: secret.value, secretVariable }]
      if (!reader.problems.some(({ setting }) => setting === secretVariable))
        reader.refuse(secretVariable, secret)
      return []
    })
  }
}

function missingSecret(variable: string): SettingRefusal {
  return {
    problem: 'names a variable that is not set.',
    expected: 'a variable of the environment or of .env with a secret: whsec_…',
    hint: `Make one with: echo "whsec_$(openssl rand -base64 32)". Set ${variable} to it, and give it to the receiver; or remove the webhook from this site.`,
  }
}
