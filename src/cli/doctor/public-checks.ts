import { findingsOf } from '../../platform/finding.ts'
import type { Check } from './inspections.ts'

/** What is open until somebody closes it: what to say when it is closed, and when it is not. */
type Door = readonly [check: string, isClosed: boolean, closed: string, open: string, hint: string]

function lookAt([check, isClosed, closed, open, hint]: Door) {
  return isClosed ? findingsOf(check).ok(closed) : findingsOf(check).warning(open, hint)
}

/** Whether the doors of the instance are closed. */
export const instanceDoors: Check = async ({ config, secrets }) => {
  const { publicUrl = '', trustedProxies, allowedHosts, sites } = config
  const doors: readonly Door[] = [
    [
      'https',
      publicUrl.startsWith('https:'),
      `visitors come to ${publicUrl}`,
      `PUBLIC_URL ${publicUrl === '' ? 'is not set' : 'has no https://'}, and by http:// others can read what visitors send`,
      'Set it to an address with https://, and put a proxy with a certificate before Rollcall: docs/going-public.md.',
    ],
    [
      'proxy',
      trustedProxies > 0,
      `the client is told by ${trustedProxies === 1 ? 'a proxy' : `${trustedProxies} proxies`}`,
      'TRUST_PROXY is not set: behind a proxy with a private address nobody is rate-limited',
      'Set it to the number of proxies, mostly 1.',
    ],
    [
      'hosts',
      allowedHosts !== undefined,
      `pages of our own are those of ${allowedHosts?.join(', ') ?? ''}`,
      'a page under any name that leads here counts as your own',
      `Set ALLOWED_HOSTS to ${URL.parse(publicUrl)?.host ?? 'the hosts under which visitors come'}.`,
    ],
    [
      'bulk',
      // Where people confirm, bulk is refused without a key.
      secrets.apiKeys.length > 0 || sites.every((it) => it.confirmation === 'mail'),
      'bulk signups need a key',
      'anybody may send bulk signups',
      'Set API_KEYS, even when you send none.',
    ],
  ]
  return doors.map(lookAt)
}

/** The same of a site. */
export const siteDoors: Check = async ({ config, site }) => {
  const { name, defaultTab, tabs, maxTabs, duplicates, origins, settingNames } = site
  const lead = config.hasSites ? `${name}: ` : ''
  const doors: readonly Door[] = [
    [
      'new-tabs',
      tabs !== undefined || maxTabs === 0,
      `${lead}nobody can make new tabs`,
      `${lead}anybody may make new tabs, up to ${maxTabs}`,
      `Set SHEET_TABS to the tabs that your forms name, or to ${defaultTab}.`,
    ],
    [
      'twice',
      duplicates === 'ignore',
      `${lead}a person who signs up twice gets one row in a tab`,
      `${lead}a person who signs up twice gets two rows`,
      'Set DUPLICATES=ignore, unless you want to see every signup.',
    ],
    [
      'origins',
      origins !== '*',
      `${lead}pages of ${[origins].flat().join(', ')}, and of the service itself, may send signups`,
      `${lead}pages of every origin may send signups`,
      `Set ${settingNames.ALLOWED_ORIGINS} to those of your pages.`,
    ],
  ]
  return doors.map(lookAt)
}
