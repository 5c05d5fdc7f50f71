import type { SignIn } from './google-key/sign-in.ts'
import type { EnvFile } from './env/env-file.ts'
import type { SettingsReader } from './reader.ts'
import { isSecret, settings } from './settings.ts'
import type { DeclaredSite } from './sites/site-schema.ts'
import type { WebhookKey } from './secret-values.ts'
import { type ChatKind, chatKindAt, chatKinds, telegramParameters } from '../platform/chat-kind.ts'

/** Where messages go. All of it is secret: the URL of a chat program allows to post. */
export interface WebhookReceiver {
  readonly url: string
  /** With which messages are signed: one, or two while one takes the place of the other. */
  readonly keys: readonly WebhookKey[]
}

/** Where the messages of a site go. */
export interface SiteWebhook extends WebhookReceiver {
  /** The variable that has the secret. */
  readonly secretVariable: string
}

/** The channel that a site tells who has signed up. */
export interface SiteChat {
  readonly url: string
  readonly chat: ChatKind
  /** The variable that has the URL. */
  readonly variable: string
}

/** The settings that must never be printed. All others are in `Config`. */
export interface Secrets {
  /** The URL of the database with its password. Present exactly when `Config` names a database. */
  readonly databaseUrl?: string
  /** The keys that allow bulk signups. When there are none, everybody may send them. */
  readonly apiKeys: readonly string[]
  /** What `/admin` asks for. Without it there is no such path. */
  readonly adminToken?: string
  /** What `/metrics` asks for. Without it there is no such path. */
  readonly metricsToken?: string
  /** Where notices go. Left out when only the log tells them. */
  readonly alertWebhook?: WebhookReceiver
  /** The URL of the mail server with its password. Present when `Config` has `mail`. */
  readonly mailUrl?: string
  /** By the name of the site. */
  readonly sites: ReadonlyMap<string, SiteSecrets>
}

export interface SiteSecrets {
  /** How to sign in at Google. Present exactly when the spreadsheet is a Google Sheet. */
  readonly signIn?: SignIn
  /** Present exactly when the challenge of a provider is on. */
  readonly challengeSecret?: string
  /** At most five, no two with one URL. Left out when there are none. */
  readonly webhooks?: readonly SiteWebhook[]
  readonly chat?: SiteChat
}

/** A receiver of two settings; undefined when there is none. Refuses one of the two without the other. */
export function readReceiver(
  reader: SettingsReader,
  name: 'ALERT_WEBHOOK' | 'WEBHOOK',
): WebhookReceiver | undefined {
  reader.bothOrNeither(`${name}_URL`, `${name}_SECRET`)
  const url = reader.value(`${name}_URL`)
  const keys = reader.value(`${name}_SECRET`)
  return url === undefined || keys === undefined ? undefined : { url, keys }
}

/** Reads the webhooks of a site: its own, or that of the environment. Those that were refused are left out. */
export function readWebhooks(
  reader: SettingsReader,
  own?: DeclaredSite['webhooks'],
): readonly SiteWebhook[] {
  const { kind } = settings.WEBHOOK_SECRET
  if (!own) {
    const receiver = readReceiver(reader, 'WEBHOOK')
    return receiver ? [{ ...receiver, secretVariable: 'WEBHOOK_SECRET' }] : []
  }
  return own.flatMap(({ url, secretVariable }) => {
    if (url === undefined || secretVariable === undefined) return []
    const keys = reader.required(secretVariable, kind, ', and a webhook of a site names it')
    return keys ? [{ url, keys, secretVariable }] : []
  })
}

/** Reads the channel of a site: its own, null for none, or that of the environment. Undefined when it was refused, too. */
export function readChat(site: SettingsReader, own?: string | null): SiteChat | undefined {
  if (own === null) {
    const problem = 'is set, and chatVariable is null.'
    const hint = 'Remove it; or name the variable of the channel in chatVariable.'
    if (site.says('CHAT_KIND')) site.refuse('CHAT_KIND', { problem, expected: 'nothing', hint })
    return undefined
  }
  const variable = own ?? 'CHAT_URL'
  const { kind: form } = settings.CHAT_URL
  const kindName = site.nameOf('CHAT_KIND')
  const [reason, hint] =
    own === undefined
      ? [`, and ${kindName} is set`, `${form.hint ?? ''} Or remove ${kindName}.`]
      : [', and a site names it', form.hint]
  const isWanted = own !== undefined || site.isSet('CHAT_KIND')
  const url = isWanted ? site.required(variable, form, reason, hint) : site.value('CHAT_URL')
  if (url === undefined) return undefined
  const { hostname, searchParams } = new URL(url)
  // What the environment says is about its own URL.
  const said = own === undefined || site.says('CHAT_KIND') ? site.value('CHAT_KIND') : undefined
  const chat = said ?? chatKindAt(hostname)
  const isStray = [...searchParams.keys()].some((it) => !telegramParameters.includes(it))
  if (chat === 'telegram' && (isStray || !searchParams.has('chat_id'))) {
    site.refuse(variable, {
      problem: isStray ? 'has parameters that a message would not fit.' : 'has no chat_id.',
      expected: `a URL with chat_id, and no parameters but ${telegramParameters.join(', ')}`,
      hint: 'Write it as https://api.telegram.org/bot<token>/sendMessage?chat_id=<chat>.',
    })
    return undefined
  }
  if (chat) return { url, chat, variable }
  site.tell(own === undefined ? 'CHAT_KIND' : site.placeOf('chatKind'), 'nothing', {
    problem: `is missing, and ${variable} leads to ${hostname}, which is of no chat program that Rollcall knows.`,
    expected: `one of ${chatKinds.join(', ')}`,
    hint: 'Say which one it is.',
  })
  return undefined
}

export function secretsOf(
  { sites }: Pick<Secrets, 'sites'>,
  site: { readonly name: string },
): SiteSecrets {
  return sites.get(site.name) ?? {}
}

/**
 * A warning when the `.env` file has secrets and every user of the machine may read it.
 *
 * @param isOpen whether every user may read it
 */
export function exposedSecrets(envFile: EnvFile | undefined, isOpen: boolean): readonly string[] {
  const { variables = {} } = envFile ?? {}
  const exposed = Object.keys(variables).filter((name) => variables[name] !== '' && isSecret(name))
  if (!isOpen || exposed.length === 0) return []
  return [
    `Every user of this machine may read the file .env, which has ${exposed.join(', ')}. ` +
      'Give it to the user who runs Rollcall, and run chmod 600 .env.',
  ]
}
