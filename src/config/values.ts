import { isIP } from 'node:net'
import { limits } from '../signup/limits.ts'
import { tabProblem } from '../signup/tab.ts'
import { emailProblem } from '../signup/email.ts'
import { hasUnprintable } from '../signup/text.ts'
import { checked, text, wholeNumber, Wrong } from './kind.ts'

/** Matches the URL of a spreadsheet in a browser: plain, with an account number, or with a domain. */
const spreadsheetUrl =
  /^(?:https?:\/\/)?docs\.google\.com\/(?:a\/[^/]+\/)?spreadsheets\/(?:u\/\d+\/)?d\/([^/?#]+)(?:[/?#].*)?$/i

/** Ids have 44 characters, but Google does not promise that. */
const idForm = /^[\w-]{20,100}$/

/** The id or the URL of a spreadsheet; the value is the id. */
export const spreadsheetId = text(
  'the id or the URL of a Google spreadsheet: https://docs.google.com/spreadsheets/d/<id>/edit, say',
  (it) => {
    const id = spreadsheetUrl.exec(it)?.[1] ?? it
    if (idForm.test(id)) return id
    const isCopy = /\/spreadsheets\/(u\/\d+\/)?d\/e\//.test(it)
    return isCopy
      ? new Wrong('is the link of a published copy, which cannot be written to.')
      : undefined
  },
  'Open the spreadsheet in a browser and copy the URL from the address bar.',
)

/** One day is too short: a repeated request is answered for 25 hours. */
export const retentionDays = {
  ...checked(wholeNumber(0, 36_500), (given, note) => {
    const expected = '0 to keep everything, or a whole number from 2 to 36,500'
    if (given === 1) note({ problem: 'is too short: retries are answered for a day.', expected })
  }),
  schema: { type: 'integer' },
}

/** A moment; the value is in milliseconds. */
export const moment = text(
  'a time in ISO 8601 with its zone: 2026-12-01T18:00:00Z or 2026-12-01T19:00:00+01:00, say',
  (it) => {
    const form = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)$/
    const [, day = ''] = form.exec(it) ?? []
    // A 31st of February would be a day in March.
    const isDay = new Date(Date.parse(day) || 0).toISOString().startsWith(day)
    const at = day !== '' && isDay ? Date.parse(it) : NaN
    return Number.isNaN(at) ? undefined : at
  },
  'Write Z behind the time when it is in UTC, or else its zone, such as +01:00.',
)

/** A URL that begins with `https://` or `http://` and has no user name and no password; otherwise undefined. */
export function webUrl(it: string): URL | undefined {
  const url = /^https?:\/\//i.test(it) ? URL.parse(it) : null
  return url && url.username + url.password === '' ? url : undefined
}

/** The value has no slash at the end. */
export const httpUrl = text(
  'an http(s) URL without user name, password, query and fragment',
  (it) => {
    const url = webUrl(it)
    return url && !/[?#]/.test(it) ? url.href.replace(/\/+$/, '') : undefined
  },
)

/** A line of a mail has at most 998 characters (RFC 5322), and a link has to fit into a header. */
const urlCharactersMax = 500

/** The URL under which visitors reach this service, without a slash at the end. */
export const publicUrl = text(
  `an http(s) URL of up to ${urlCharactersMax} characters without user name, password, query and fragment`,
  (it) => {
    const isShort = it.length <= urlCharactersMax && !/[\s\p{Cc}]/u.test(it)
    return isShort ? httpUrl.parse(it, () => undefined) : undefined
  },
  'Open the signup page in a browser and copy its address, without what follows a ?.',
)

export const listenHost = text(
  'an IP address or a host name of this machine: 0.0.0.0, 127.0.0.1, :: or localhost, say',
  (it) => {
    const bare = it.replace(/^\[(.*)\]$/, '$1')
    const isName = /^(?!-)[a-z0-9-]+(\.[a-z0-9-]+)*$/i.test(bare) && !/^[\d.]+$/.test(bare)
    return isIP(bare) !== 0 || isName ? bare : undefined
  },
  'Leave out http:// and the port; the port goes into PORT.',
)

export const tabName = text(
  `the name of a tab: 1 to ${limits.tabCharactersMax} characters in one line`,
  (it) => (tabProblem(it) === undefined ? it : undefined),
  'Copy the name from the tab at the bottom of the spreadsheet.',
)

/** The path of a file or a folder, unchanged. */
export const filePath = text(
  'a path in one line without ~: absolute or from the working directory',
  (it) => {
    if (it.startsWith('{') || it.includes('-----BEGIN')) {
      const hint =
        'Put the key into SHEETS_PRIVATE_KEY, or save it in a file and give its path here.'
      return new Wrong('holds a key instead of the path of a file.', hint)
    }
    return hasUnprintable(it) || it.startsWith('~') ? undefined : it
  },
  'Write the path in full, as only a shell understands ~; in .env write Windows paths with / or without quotes.',
)

export const emailAddress = text(
  'the email address of a service account: rollcall@my-project.iam.gserviceaccount.com, say',
  (it) => {
    if (emailProblem(it) !== undefined) return undefined
    const isPersonal = /@(gmail|googlemail)\.com$/i.test(it)
    return isPersonal ? new Wrong('is the address of a person.') : it
  },
  'Copy client_email from the JSON key file.',
)

/** A number of proxies, of which people write the addresses, or that there are some. */
export const proxyCount = wholeNumber(
  0,
  10,
  'Count the proxies before Rollcall: 1 for Caddy or nginx alone, 2 with a CDN before it.',
)
