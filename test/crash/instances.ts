import { kill as signal } from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'

import { readiness, waitUntil } from '../../harness/delivery-state.ts'
import { type RunningService, startService } from '../../harness/start-service.ts'

interface Slot {
  readonly service: RunningService
  /** SIGSTOP was sent, and no SIGCONT. */
  isStill: boolean
}

/** Several instances of the service, all with the same settings, as behind a load balancer. */
export class Instances implements AsyncDisposable {
  readonly #env: Readonly<Record<string, string>>
  readonly #slots: (Slot | undefined)[]
  #turn = 0
  kills = 0
  /** When an instance that stood still went on, in milliseconds since the epoch. */
  readonly wakes: number[] = []

  private constructor(env: Readonly<Record<string, string>>, slots: Slot[]) {
    this.#env = env
    this.#slots = slots
  }

  static async start(count: number, env: Readonly<Record<string, string>>): Promise<Instances> {
    const services = await Promise.all(Array.from({ length: count }, () => startService({ env })))
    return new Instances(
      env,
      services.map((service) => ({ service, isStill: false })),
    )
  }

  /** The address of the instance whose turn it is. An instance that stands still gets its turn, too. */
  nextUrl(): string {
    for (;;) {
      this.#turn += 1
      const slot = this.#slots[this.#turn % this.#slots.length]
      if (slot) return slot.service.url
    }
  }

  /** Sends SIGKILL, and starts another instance in its place. */
  async kill(index: number): Promise<void> {
    const slot = this.#slots[index]
    if (!slot) return
    this.kills += 1
    this.#slots[index] = undefined
    await slot.service.kill()
    this.#slots[index] = { service: await startService({ env: this.#env }), isStill: false }
  }

  /** Lets an instance stand still for so long. */
  async stop(index: number, ms: number): Promise<void> {
    const slot = this.#slots[index]
    if (!slot) return
    slot.isStill = true
    signal(slot.service.pid, 'SIGSTOP')
    await sleep(ms)
    this.wakes.push(Date.now())
    signal(slot.service.pid, 'SIGCONT')
    slot.isStill = false
  }

  /** Resolves when every signup is in the spreadsheet, as every instance says. */
  async allDelivered(): Promise<void> {
    for (const slot of this.#slots) {
      if (!slot) continue
      const isDone = async () => {
        const { status, body } = await readiness(slot.service)
        return status === 200 && body.delivery.backlog === 0
      }
      await waitUntil(isDone, () => `signups still wait:\n${slot.service.output().slice(-2000)}`)
    }
  }

  /** Ends all of them. Resolves with their exit codes. */
  async end(): Promise<(number | null)[]> {
    const services = this.#slots.flatMap((slot) => slot?.service ?? [])
    this.#slots.fill(undefined)
    return Promise.all(services.map((service) => service.stop()))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const slot of this.#slots) {
      if (slot?.isStill) signal(slot.service.pid, 'SIGCONT')
    }
    await this.end()
  }
}
