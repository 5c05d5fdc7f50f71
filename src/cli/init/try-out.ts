import { partOf } from '../../journal/contracts/journal.ts'
import { sendTestSignup } from '../../operations/test-signup.ts'
import { startService } from '../../service/service.ts'
import { rollcall, serve } from '../command-words.ts'
import type { Session } from '../session.ts'
import type { readSettings } from '../settings.ts'
import type { Ask } from './ask.ts'

/** Offers to send a test signup and to remove it again. Returns whether all that was wanted was done. */
export async function tryOut(
  { config, secrets, home }: ReturnType<typeof readSettings>,
  ask: Ask,
  { out, clock, stop }: Session,
): Promise<boolean> {
  if (await home.isInUse()) {
    await out.line('\nA service is running: start it again, so that it takes these settings.')
    return true
  }
  if (!(await ask.isSure('Send a test signup, to see its row?', true))) return true
  // It has a port of its own.
  const listen = { host: '127.0.0.1', port: 0 }
  await using service = await startService({ ...config, listen }, secrets, { isQuiet: true })
  await using opened = await home.openBeside()
  const test = await sendTestSignup(partOf(opened.sites, config.sites[0]), clock, stop)
  const problem = await test.written()
  if (problem !== undefined) {
    await test.erase()
    await out.line(`\nThe test signup has no row, and gets none: ${problem}`)
    return false
  }
  await out.line(`\nThe row of ${test.address} is in ${service.locations[0] ?? ''}
To remove it later: ${rollcall}forget ${test.address}`)
  if (!(await ask.isSure('Remove it again?', true))) return true
  await test.erase()
  const isRemoved = await test.erased()
  await out.line(
    isRemoved
      ? `\nIt is removed. Start the service: ${serve}`
      : `\nIt is not removed yet. The service removes it when it runs: ${serve}`,
  )
  return isRemoved
}
