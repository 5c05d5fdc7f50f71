import type { Config } from '../config/config.ts'
import { startNotes } from '../config/notes.ts'
import type { Secrets } from '../config/secrets.ts'
import type { Application } from '../http/edge.ts'
import { connectionShare } from '../http/share.ts'
import { createEvents } from '../ops/events.ts'
import { createHealth } from '../ops/health.ts'
import { createLog, type Logger } from '../ops/log.ts'
import { lockDirectory } from '../platform/node/directory-lock.ts'
import { listen } from '../platform/node/http-server.ts'
import { keepDataPrivate, watchLock } from './data-folder.ts'
import { createDelivery, type DeliveryOverrides } from './delivery.ts'
import { journalFile, openStore } from './store.ts'
import { createWeb } from './web.ts'
import { realWorld } from './world.ts'

/** A running service. Disposing drains it: no new request, one batch in flight settles, then it ends. */
export interface Service extends AsyncDisposable {
  /** Where it listens. */
  readonly url: string
  /** What its server asks, for who serves it in another way. */
  readonly application: Application
  /** Where the rows go: a URL or a folder. */
  readonly location: string
  /** Resolves when it cannot go on, which the log has told by then: dispose of it. */
  readonly failed: Promise<void>
}

/** What tests and benches put in the place of the real thing. */
export interface Overrides extends DeliveryOverrides {
  readonly log?: Logger | undefined
}

/** How long a stop waits for requests that are being answered, and for the batch in flight. */
const stopGraceMs = 10_000

/** Builds every stage and starts them. Rejects when one cannot start; nothing is left running then. */
export async function startService(
  config: Config,
  secrets: Secrets,
  overrides: Overrides = {},
): Promise<Service> {
  const { log = createLog(config.logLevel), ...parts } = overrides
  const world = { ...realWorld, ...parts }
  const { clock } = world
  await using started = new AsyncDisposableStack()
  const lock = started.use(await lockDirectory(config.dataDir, journalFile, clock))
  await keepDataPrivate(config.dataDir, log)

  const health = createHealth()
  const events = createEvents(log, health, clock)
  const journal = started.use(openStore(config, world))

  const { writer, location } = createDelivery({ ...config, ...secrets, journal, events }, parts)
  let graceMs = stopGraceMs
  started.defer(() => writer.stop(graceMs))

  const { application, stopWaiting } = await createWeb(
    { config, secrets, journal, events, health, log },
    world,
  )
  const { bodyBytesMax, trustedProxies } = config
  const shareOf = (remoteAddress: string) => connectionShare(remoteAddress, trustedProxies)
  const server = await listen({ ...application, ...config.listen, bodyBytesMax, shareOf })
  started.defer(() => {
    stopWaiting()
    return server.close(graceMs)
  })

  tellFromTheStart(config, log)
  const failed = new Promise<void>((resolve) => {
    watchLock(lock, config.dataDir, log, () => {
      graceMs = 0
      void writer.stop(graceMs)
      resolve()
    })
  })
  writer.start()
  const running = started.move()
  return {
    url: server.url,
    application,
    location,
    failed,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

/** Once nothing can stop the start any more: a start that fails tells why it does, and nothing else. */
function tellFromTheStart(config: Config, log: Logger): void {
  for (const warning of config.warnings) log.warn(warning)
  for (const note of startNotes(config)) log.info(note)
}
