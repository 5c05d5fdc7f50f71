import { type Command, InvalidArgumentError } from '@commander-js/extra-typings'
import { origins } from '../config/lists.ts'
import type { Finding } from '../signup/finding.ts'
import { accountOf, diagnose, diagnoseInLines } from './doctor/diagnose.ts'
import { iso } from './terminal/words.ts'
import { exit, type Run, UsageError } from './session.ts'
import { chosenSites, readSettings } from './settings.ts'

/** The JSON of `rollcall doctor`. */
export interface Report {
  /** ISO 8601 in UTC. */
  readonly at: string
  /** The address to share the spreadsheet with; null for the local workbook. Absent when a file names sites. */
  readonly account?: string | null
  /** The same for each site of the file that is looked at. */
  readonly accounts?: Readonly<Record<string, string | null>>
  /** In the order of the checks. */
  readonly findings: readonly {
    /** Null for a finding of the instance; absent when no file names sites. */
    readonly site?: string | null
    readonly check: string
    readonly state: Finding['state']
    readonly message: string
    readonly hint: string | null
  }[]
}

export function addDoctor(program: Command, run: Run): void {
  program
    .command('doctor')
    .description('check the settings, the spreadsheet and this machine, and say what to do')
    .option('--json', 'print JSON, for programs')
    .option('--origin <url>', 'also check that pages of this origin may send signups', parseOrigin)
    .option('--notice', 'also send a test notice to ALERT_WEBHOOK_URL')
    .option('--site <name>', 'only the instance and this site')
    .addHelpText('after', '\nExit code 1: there is at least one fault. A warning is none.')
    .action((options) =>
      run(async (session) => {
        const { json, origin, notice = false, site: name } = options
        const { config, secrets, home } = readSettings()
        const sites = chosenSites(config, name)
        if (notice && !secrets.alertWebhook) {
          throw new UsageError(
            '--notice needs the settings ALERT_WEBHOOK_URL and ALERT_WEBHOOK_SECRET.',
          )
        }
        const subject = { config, secrets, home, origin, sendsNotice: notice, sites }
        if (!json) return (await diagnoseInLines(subject, session)) ? exit.done : exit.notAll
        const found = await Array.fromAsync(diagnose(subject, session))
        const report: Report = {
          at: iso(session.clock.now()),
          ...(config.hasSites
            ? { accounts: Object.fromEntries(sites.map((site) => [site.name, accountOf(site)])) }
            : { account: accountOf(sites[0]) }),
          findings: found.map(({ site = null, check, state, message, hint = null }) => {
            return { ...(config.hasSites && { site }), check, state, message, hint }
          }),
        }
        await session.out.json(report)
        return found.some(({ state }) => state === 'fault') ? exit.notAll : exit.done
      }),
    )
}

function parseOrigin(text: string): string {
  const parsed = origins.parse(text, '')
  const [origin, ...more] = 'value' in parsed && parsed.value !== '*' ? parsed.value : []
  if (origin !== undefined && more.length === 0) return origin
  throw new InvalidArgumentError('Give the origin of one page, such as https://example.com.')
}
