import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { patienceMs } from '../harness/patience.ts'

/** Attackers come from 127.0.0.1. Other systems than Linux have no second address of their own. */
export const comesFromElsewhere = process.platform === 'linux'
const localAddress = comesFromElsewhere ? '127.0.0.2' : '127.0.0.1'
/** Over 4 KiB it counts among the bodies that are on their way, of which each address has a share. */
const body = '{"email":"bystander@example.com"}'.padEnd(comesFromElsewhere ? 5_000 : 0)
const pauseMs = 50

/** One ordinary signup over a new connection; resolves with how long it took, in milliseconds. */
export async function signUp(url: string): Promise<number> {
  const start = performance.now()
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const headers = { 'content-type': 'application/json', connection: 'close' }
    const signal = AbortSignal.timeout(patienceMs)
    request(`${url}/api/signup`, { method: 'POST', headers, localAddress, signal })
      .on('response', (answer) => {
        answer.resume().once('end', () => resolve(answer.statusCode))
      })
      .on('error', reject)
      .end(body)
  })
  if (status !== 202) throw new Error(`an ordinary signup was answered ${String(status)}`)
  return performance.now() - start
}

/** Somebody who signs up again and again while an attack runs, from another address. */
export class Bystander {
  readonly #run: Promise<void>
  #hasSeenEnough = false
  #slowestMs = 0

  constructor(url: string) {
    this.#run = this.#signUpAgainAndAgain(url)
    // It is told by `leave`.
    this.#run.catch(() => {})
  }

  /** Resolves with the longest wait, in milliseconds. Rejects when a signup was not taken. */
  async leave(): Promise<number> {
    this.#hasSeenEnough = true
    await this.#run
    return this.#slowestMs
  }

  async #signUpAgainAndAgain(url: string): Promise<void> {
    while (!this.#hasSeenEnough) {
      this.#slowestMs = Math.max(this.#slowestMs, await signUp(url))
      await sleep(pauseMs)
    }
  }
}
