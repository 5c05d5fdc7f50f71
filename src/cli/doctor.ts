import type { Command } from '@commander-js/extra-typings'
import { accountOf, diagnose, diagnoseInLines, type Subject } from './doctor/diagnose.ts'
import { exit, type Run, type Session, UsageError } from './session.ts'
import { chosenSites, readSettings } from './settings.ts'
import { iso } from '../platform/clock.ts'

export function addDoctor(program: Command, run: Run): void {
  program
    .command('doctor')
    .description('check the settings, the spreadsheet and this machine, and say what to do')
    .option('--json', 'print JSON, for programs')
    .option('--notice', 'also send a test notice to ALERT_WEBHOOK_URL')
    .option('--site <name>', 'only the instance and this site')
    .addHelpText('after', '\nExit code 1: there is at least one fault. A warning is none.')
    .action((options) =>
      run(async (session) => {
        const { json, notice = false, site: name } = options
        const { config, secrets, home } = await readSettings()
        const sites = chosenSites(config, name)
        if (notice && !secrets.alertWebhook) {
          throw new UsageError(
            '--notice needs the settings ALERT_WEBHOOK_URL and ALERT_WEBHOOK_SECRET.',
          )
        }
        const subject = { config, secrets, home, sendsNotice: notice, sites }
        if (!json) return (await diagnoseInLines(subject, session)) ? exit.done : exit.notAll
        const report = await reportOf(subject, session)
        await session.out.json(report)
        return report.findings.some(({ state }) => state === 'fault') ? exit.notAll : exit.done
      }),
    )
}

export type Report = Awaited<ReturnType<typeof reportOf>>

/**
 * Adds up the JSON of `rollcall doctor`, the findings in the order of the checks. `account` is the address to
 * share the spreadsheet with, null for the local workbook. When a file names sites, `accounts` has that of
 * each site, and a finding has its site, null for the instance.
 */
async function reportOf(subject: Subject, session: Session) {
  const { config, sites } = subject
  const found = await Array.fromAsync(diagnose(subject, session))
  return {
    at: iso(session.clock.now()),
    ...(!config.hasSites && { account: accountOf(sites[0]) }),
    ...(config.hasSites && {
      accounts: Object.fromEntries(sites.map((site) => [site.name, accountOf(site)])),
    }),
    findings: found.map(({ site = null, check, state, message, hint = null }) => {
      return { ...(config.hasSites && { site }), check, state, message, hint }
    }),
  }
}
