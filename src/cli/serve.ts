import { Command } from '@commander-js/extra-typings'
import { letHeapGrow } from '../platform/node/heap.ts'
import { siteWithoutName } from '../config/sites/site.ts'
import { startService } from '../service/service.ts'
import { plainCommand } from './command.ts'
import { readSettings } from './settings.ts'

/** Runs the service until a signal or a failure. */
export const addServe = plainCommand(
  new Command('serve').description('run the service until SIGTERM or SIGINT (the default)'),
  async ({ out, stop, env }) => {
    const { config, secrets } = await readSettings({ env })
    const stopped = new Promise<true>((resolve) => {
      stop.addEventListener('abort', () => resolve(true), { once: true })
      if (stop.aborted) resolve(true)
    })
    // The service goes on when nobody reads its output any more, or when the disk is full.
    const print = (text: string) => void out.write(text).catch(() => {})
    await using service = await startService(config, secrets, { stop })
    letHeapGrow()
    const { url, locations } = service
    const { publicUrl = url } = config
    const where = locations.length > 1 ? `${locations.length} spreadsheets` : locations.join()
    const page = siteWithoutName(config.sites)
      ? `${publicUrl}/`
      : `${publicUrl}/?site=${config.sites[0].name}`
    const admin = secrets.adminToken === undefined ? '' : `The admin page is ${publicUrl}/admin\n`
    const first = `Rollcall listens on ${url}\nRows go to ${where}\n`
    print(`${first}${admin}Try: open ${page} in a browser\n`)
    const isWell = await Promise.race([stopped, service.failed.then(() => false)])
    if (isWell) print('Rollcall is stopping: it finishes the work that it has begun.\n')
    return { isWell }
  },
)
