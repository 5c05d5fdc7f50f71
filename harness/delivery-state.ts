import { setTimeout as sleep } from 'node:timers/promises'

import { patienceMs } from './patience.ts'
import type { RunningService } from './start-service.ts'

export interface Readiness {
  readonly status: number
  readonly body: {
    readonly status: string
    readonly journal: { readonly state: string }
    readonly delivery: {
      readonly state: string
      readonly backlog: number
      readonly error?: string
      readonly tabsSetAside: readonly { readonly tab: string; readonly error: string }[]
    }
  }
}

type Service = Pick<RunningService, 'url' | 'output'>

/** The answer of `/api/ready`. With `strict`, it also says whether delivery works. */
export async function readiness(
  { url }: Pick<Service, 'url'>,
  mode: 'strict' | '' = '',
): Promise<Readiness> {
  const answer = await fetch(`${url}/api/ready${mode && `?${mode}`}`)
  return { status: answer.status, body: (await answer.json()) as Readiness['body'] }
}

/** Resolves when all accepted signups are in the spreadsheet. */
export async function allDelivered(service: Service): Promise<void> {
  const isDone = async () => {
    const { status, body } = await readiness(service)
    return status === 200 && body.delivery.backlog === 0
  }
  await waitUntil(isDone, () => `signups still wait:\n${service.output().slice(-2000)}`)
}

/** Waits until something is true. Unlike `expect.poll`, this works in concurrent tests. */
export async function waitUntil(
  isSo: () => boolean | Promise<boolean>,
  what: () => string,
): Promise<void> {
  const deadline = performance.now() + patienceMs
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`After ${patienceMs} ms ${what()}`)
    await sleep(25)
  }
}
