import { isLoopback } from '../platform/web-host.ts'
import { pathText } from './path.ts'
import type { SettingsReader } from './reader.ts'
import type { ReadSite } from './sites/sites.ts'
import { type SettingName, settings } from './settings.ts'

const needed = ['MAIL_URL', 'MAIL_FROM', 'PUBLIC_URL'] as const satisfies readonly SettingName[]

/** How mail is sent. */
export type MailConfig = NonNullable<ReturnType<typeof readMail>['mail']>

/** Reads how mail is sent. Refuses, all at once, what is missing for what is turned on. */
export function readMail(
  reader: SettingsReader,
  sites: readonly ReadSite[],
  publicUrl: string | undefined,
) {
  const mailUrl = reader.value('MAIL_URL')
  const from = reader.value('MAIL_FROM')
  const values = {
    perHour: reader.value('MAIL_PER_HOUR'),
    /** Who gets reports; undefined when nobody does. */
    owner: reader.value('OWNER_MAIL'),
    ownerWhen: reader.value('OWNER_MAIL_WHEN'),
  }
  const reason = whyMail(reader, sites)
  if (reason !== undefined) {
    const hint = `Set it as docs/mail.md says; or turn off ${reason}.`
    for (const name of needed)
      reader.required(name, settings[name].kind, `, and ${reason} needs it`, hint)
  }
  const isWhole = mailUrl !== undefined && from !== undefined && publicUrl !== undefined
  return {
    /** Undefined when nothing needs mail, or something is missing. */
    mail: isWhole && reason !== undefined ? { ...values, from, publicUrl } : undefined,
    mailUrl,
    warnings: publicUrl !== undefined && isReadable(publicUrl) ? [unencrypted] : [],
  }
}

/** The setting that needs mail, as messages call it; undefined when none does. */
function whyMail(reader: SettingsReader, sites: readonly ReadSite[]): string | undefined {
  const asks = sites.find(({ site }) => site.confirmation === 'mail')
  const greets = sites.find(({ site }) => site.mail.welcome)
  const at = ({ site }: ReadSite, ...keys: string[]) => pathText(['sites', site.name, ...keys])
  if (asks) return reader.isSet('CONFIRMATION') ? 'CONFIRMATION=mail' : at(asks, 'confirmation')
  if (greets)
    return reader.isSet('WELCOME_MAIL') ? 'WELCOME_MAIL=on' : at(greets, 'mail', 'welcome')
  return reader.isSet('OWNER_MAIL') ? 'OWNER_MAIL' : undefined
}

/** Whether others could read, on its way, what visitors send to this URL. */
function isReadable(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol === 'http:' && !isLoopback(hostname)
}

const unencrypted =
  'PUBLIC_URL begins with http://, so that others can read the links of mails on their way and use them. Use https://, with a proxy that ends TLS.'
