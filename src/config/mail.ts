import type { SettingsReader } from './reader.ts'
import { pathText } from './sites/schema-problems.ts'
import type { ReadSite } from './sites/sites.ts'
import { type SettingName, settings, type ValueOf } from './settings.ts'

/** How mail is sent. The URL of the mail server is a secret. */
export interface MailConfig {
  /** `name@host`, or `"Name" <name@host>`. */
  readonly from: string
  /** Where visitors reach this service, without a slash at the end. */
  readonly publicUrl: string
  /** The most mails in an hour to all people together. */
  readonly perHour: number
  /** Who gets reports; undefined when nobody does. */
  readonly owner: string | undefined
  readonly ownerWhen: ValueOf<'OWNER_MAIL_WHEN'>
}

const needed = ['MAIL_URL', 'MAIL_FROM', 'PUBLIC_URL'] as const satisfies readonly SettingName[]

export interface ReadMail {
  /** Undefined when nothing needs mail, or something is missing. */
  readonly mail: MailConfig | undefined
  readonly mailUrl: string | undefined
  readonly warnings: readonly string[]
}

/** Reads how mail is sent. Refuses, all at once, what is missing for what is turned on. */
export function readMail(reader: SettingsReader, sites: readonly ReadSite[]): ReadMail {
  const url = reader.value('MAIL_URL')
  const from = reader.value('MAIL_FROM')
  const publicUrl = reader.value('PUBLIC_URL')
  const owner = reader.value('OWNER_MAIL')
  const values = {
    owner,
    perHour: reader.value('MAIL_PER_HOUR'),
    ownerWhen: reader.value('OWNER_MAIL_WHEN'),
  }
  const reason = whyMail(reader, sites)
  for (const name of needed) {
    if (reason === undefined || reader.isSet(name)) continue
    reader.refuse(name, {
      problem: `is missing, and ${reason} needs it.`,
      expected: `a value such as ${settings[name].example}`,
      hint: `Set it as docs/mail.md says; or turn off ${reason}.`,
    })
  }
  const isWhole = url !== undefined && from !== undefined && publicUrl !== undefined
  return {
    mail: isWhole && reason !== undefined ? { ...values, from, publicUrl } : undefined,
    mailUrl: url,
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
  return protocol === 'http:' && !/^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
}

const unencrypted =
  'PUBLIC_URL begins with http://, so that others can read the links of mails on their way and use them. Use https://, with a proxy that ends TLS.'
