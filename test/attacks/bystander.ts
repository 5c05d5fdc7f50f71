import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/** Whether ordinary signups can have another address than attackers, who use 127.0.0.1. */
export const comesFromElsewhere = process.platform === 'linux'
const localAddress = comesFromElsewhere ? '127.0.0.2' : '127.0.0.1'
/** A body over 4 KiB counts against the space for bodies, of which each address has a share. */
const body = '{"email":"bystander@example.com"}'.padEnd(comesFromElsewhere ? 5_000 : 0)
const pauseMs = 50
/** An attack that keeps others out for longer works, whatever it uses up. */
const timeoutMs = 10_000

/** Signs up over a new connection. Resolves with the time until the answer, in milliseconds. */
export async function signUp(url: string): Promise<number> {
  const start = performance.now()
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const headers = { 'content-type': 'application/json', connection: 'close' }
    const signal = AbortSignal.timeout(timeoutMs)
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

/** A visitor at another address who signs up again and again while an attack runs. */
export class Bystander {
  readonly #run: Promise<void>
  #hasSeenEnough = false
  #slowestMs = 0

  constructor(url: string) {
    this.#run = this.#signUpAgainAndAgain(url)
    // `leave` reports the error.
    this.#run.catch(() => {})
  }

  /** Stops. Resolves with the longest wait in milliseconds; rejects when a signup was refused. */
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
