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

/** What `/api/ready` says, and its status; `strict` asks whether delivery works too. */
export async function readiness(
  { url }: Pick<Service, 'url'>,
  mode: 'strict' | '' = '',
): Promise<Readiness> {
  const answer = await fetch(`${url}/api/ready${mode && `?${mode}`}`)
  return { status: answer.status, body: (await answer.json()) as Readiness['body'] }
}

/** Resolves when every signup that was accepted is in the spreadsheet. */
export async function allDelivered(service: Service): Promise<void> {
  const isDone = async () => {
    const { status, body } = await readiness(service)
    return status === 200 && body.delivery.backlog === 0
  }
  await waitUntil(isDone, () => `signups still wait:\n${service.output().slice(-2000)}`)
}

/** Unlike `expect.poll`, this works in tests that run at the same time as others. */
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
