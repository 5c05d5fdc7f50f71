import { resolve } from 'node:path'
import type { Files } from './read-file.ts'
import { type DatabaseConfig, readDatabase } from './database.ts'
import { type MailConfig, readMail } from './mail.ts'
import { ConfigError } from './problem.ts'
import { SettingsReader, type Variables } from './reader.ts'
import { type SiteConfig, siteWithoutName } from './sites/site.ts'
import { type ReadSite, readSites } from './sites/sites.ts'
import type { EnvFile } from './env/env-file.ts'
import { exposedSecrets, readReceiver, type Secrets } from './secrets.ts'
import { misnamed } from './env/unknown.ts'
import type { Setting } from './setting.ts'
import type { InstanceSettings } from './setting-values.ts'
import { settingNames, settings } from './settings.ts'

/** The settings, checked and complete. Holds no secret, so it can be printed. `dataDir` is an absolute path. */
export interface Config extends InstanceSettings {
  /** At least one. */
  readonly sites: readonly [SiteConfig, ...SiteConfig[]]
  /** Whether a file names the sites; otherwise there is one, and signups name none. */
  readonly hasSites: boolean
  /** The database that keeps the journal; undefined when it is in `dataDir`. Its URL is a secret. */
  readonly database: DatabaseConfig | undefined
  /** How mail is sent; undefined when nothing needs it. The URL of the mail server is a secret. */
  readonly mail: MailConfig | undefined
  readonly hasAdminPage: boolean
  readonly logColours: boolean
  /** Sentences about settings that work but may be mistakes. */
  readonly warnings: readonly string[]
}

/** The source of the settings. `env.ts` makes the one of this process. */
export interface Environment extends Files {
  /** The variables of the process and of the `.env` file together. */
  readonly variables: Variables
  /** Undefined when there is no `.env` file. */
  readonly envFile?: EnvFile | undefined
  /** Whether every user of the machine may read that file. */
  readonly isEnvFileOpen?: boolean
}

/** Turns the environment into settings. Throws a ConfigError that lists every problem. */
export function loadConfig(environment: Environment): { config: Config; secrets: Secrets } {
  const { variables, envFile, isEnvFileOpen = false, folder } = environment
  const reader = new SettingsReader(variables)
  const { sites, isNamed, hasWorkbook } = readSites(reader, environment)
  const stored = readDatabase(reader, environment, hasWorkbook)
  const instance = readInstance(reader)
  const alertWebhook = readReceiver(reader, 'ALERT_WEBHOOK')
  const { mail, mailUrl, warnings: mailWarnings } = readMail(reader, sites, instance.publicUrl)
  const apiKeys = reader.value('API_KEYS') ?? []
  const adminToken = reader.value('ADMIN_TOKEN')
  const metricsToken = reader.value('METRICS_TOKEN')
  // What is wrong is told even where nothing needs it. The file of Google's tools may be for other programs.
  const known = settingNames.filter((name) => name !== 'GOOGLE_APPLICATION_CREDENTIALS')
  for (const name of known) reader.value(name)
  const problems = [...(envFile?.problems ?? []), ...reader.problems]
  const unknown = misnamed(variables, envFile?.assignments ?? [])
  const [first, ...others] = sites.map(({ site }) => site)
  if (problems.length > 0 || !first) throw new ConfigError(problems, { besides: unknown })
  return {
    config: {
      ...instance,
      dataDir: resolve(folder, instance.dataDir),
      sites: [first, ...others],
      hasSites: isNamed,
      database: stored?.database,
      mail,
      hasAdminPage: adminToken !== undefined,
      logColours: (variables['NO_COLOR'] ?? '') === '',
      warnings: [
        ...unknown,
        ...(isNamed ? [] : unnamedFile(environment)),
        ...separatorWarnings(reader),
        ...(isNamed ? unusedSecrets(variables, sites) : []),
        ...(stored?.warnings ?? []),
        ...mailWarnings,
        ...exposedSecrets(envFile, isEnvFileOpen),
      ],
    },
    secrets: {
      ...(stored && { databaseUrl: stored.databaseUrl }),
      apiKeys,
      ...(adminToken !== undefined && { adminToken }),
      ...(metricsToken !== undefined && { metricsToken }),
      ...(alertWebhook && { alertWebhook }),
      ...(mailUrl !== undefined && { mailUrl }),
      sites: new Map(sites.map((it) => [it.site.name, it.secrets])),
    },
  }
}

function readInstance(reader: SettingsReader): InstanceSettings {
  const values = settingNames.flatMap((name) => {
    const { instance }: Setting = settings[name]
    return instance === undefined ? [] : [[instance, reader.value(name)] as const]
  })
  return Object.fromEntries(values) as unknown as InstanceSettings
}

/**
 * Warns of entries that look like several, because another sign than a comma stands between them. They are
 * not refused: the name of a tab may have such a sign on purpose, and so may a key. A key is not shown.
 */
export function separatorWarnings(reader: SettingsReader): readonly string[] {
  const names = ['SHEET_TABS', 'API_KEYS'] as const
  return names
    .filter((name) => /[^\s,;|]\s*[;|]\s*[^\s,;|]/.test(reader.text(name) ?? ''))
    .map(
      (name) =>
        `${name} has an entry with ; or | in it, which is taken as one. If these are several, write commas between them.`,
    )
}

/** Warns of a file of sites that lies beside `.env` and that no setting names. */
function unnamedFile({ folder, readText }: Files): readonly string[] {
  const name = 'rollcall.json'
  try {
    if (!readText(resolve(folder, name)).includes('"sites"')) return []
  } catch {
    return []
  }
  return [`${name} is here, and nothing reads it. Set ROLLCALL_CONFIG=./${name}, or move it away.`]
}

/** What the variables of sites have, by their beginnings, and where a site names them. */
const ownSecrets: Readonly<Record<string, readonly [what: string, where: string]>> = {
  CHALLENGE_SECRET_KEY: ['secret key', 'challenge'],
  WEBHOOK_SECRET: ['secret', 'webhooks'],
  CHAT_URL: ['channel', 'chatVariable'],
}

/** Warns of secrets that no site names: a site whose challenge was forgotten runs without one. */
function unusedSecrets(variables: Variables, sites: readonly ReadSite[]): readonly string[] {
  const used = sites.flatMap(({ site, secrets: { webhooks = [], chat } }) => [
    site.settingNames.CHALLENGE_SECRET_KEY,
    ...webhooks.map((it) => it.secretVariable),
    chat?.variable,
  ])
  return Object.keys(variables).flatMap((name) => {
    const [prefix = ''] =
      /^(CHALLENGE_SECRET_KEY|WEBHOOK_SECRET|CHAT_URL)(?=_[A-Z_]+$)/.exec(name) ?? []
    const [what, where] = ownSecrets[prefix] ?? []
    if (what === undefined || used.includes(name)) return []
    return `${name} is the ${what} of no site. Remove it, or name it in a site's ${where}.`
  })
}

type Noted = Pick<Config, 'trustedProxies' | 'allowedHosts'> & {
  readonly sites: readonly Pick<
    SiteConfig,
    'name' | 'signupsPerMinute' | 'origins' | 'settingNames'
  >[]
}

/** Notes to log at the start. They are not about mistakes. */
export function startNotes(config: Noted): readonly string[] {
  const { trustedProxies, sites, allowedHosts } = config
  const isLimited = sites.some(({ signupsPerMinute }) => signupsPerMinute > 0)
  const named = sites.find(({ origins }) => origins !== '*')
  const notes: string[] = []
  if (!siteWithoutName(sites)) notes.push(namesNeeded)
  if (isLimited && trustedProxies === 0) notes.push(privateAddresses)
  if (named && allowedHosts === undefined)
    notes.push(`${named.settingNames.ALLOWED_ORIGINS} is set and ALLOWED_HOSTS is not. ${anyHost}`)
  return notes
}

const namesNeeded =
  'There are several sites, and none is called default: a request that names no site (?site=) is refused.'

const privateAddresses =
  'Signups from this machine and from local networks are not rate-limited, because they may come through a proxy. If there is a proxy, set TRUST_PROXY.'

const anyHost =
  'Set ALLOWED_HOSTS to the hosts of this service: without it, pages count as its own under every host name that points here.'
