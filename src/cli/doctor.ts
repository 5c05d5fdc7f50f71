import { Command } from '@commander-js/extra-typings'
import { accountOf, diagnose, diagnoseInLines, type Subject } from './doctor/diagnose.ts'
import { command } from './command.ts'
import { UsageError } from './session.ts'
import { chosenSites } from './settings.ts'
import { iso } from '../platform/clock.ts'

export const addDoctor = command(
  new Command('doctor')
    .description('check the settings, the spreadsheet and this machine, and say what to do')
    .option('--notice', 'also send a test notice to ALERT_WEBHOOK_URL')
    .option('--site <name>', 'only the instance and this site')
    .addHelpText('after', '\nExit code 1: there is at least one fault. A warning is none.'),
  async (context, { notice: sendsNotice = false, site }) => {
    const { config, secrets, json } = context
    const sites = chosenSites(config.sites, site)
    if (sendsNotice && !secrets.alertWebhook) {
      throw new UsageError(
        '--notice needs the settings ALERT_WEBHOOK_URL and ALERT_WEBHOOK_SECRET.',
      )
    }
    const subject = { ...context, sendsNotice, sites }
    if (!json) return { isWell: await diagnoseInLines(subject) }
    const report = await reportOf(subject)
    return { report, isWell: report.findings.every(({ state }) => state !== 'fault') }
  },
)

export type Report = Awaited<ReturnType<typeof reportOf>>

/**
 * Adds up the JSON of `rollcall doctor`, the findings in the order of the checks. `account` is the address to
 * share the spreadsheet with, null for the local workbook. When a file names sites, `accounts` has that of
 * each site, and a finding has its site, null for the instance.
 */
async function reportOf(subject: Subject) {
  const { config, sites, clock } = subject
  const found = await Array.fromAsync(diagnose(subject))
  return {
    at: iso(clock.now()),
    ...(!config.hasSites && { account: accountOf(sites[0]) }),
    ...(config.hasSites && {
      accounts: Object.fromEntries(sites.map((site) => [site.name, accountOf(site)])),
    }),
    findings: found.map(({ site = null, check, state, message, hint = null }) => {
      return { ...(config.hasSites && { site }), check, state, message, hint }
    }),
  }
}
