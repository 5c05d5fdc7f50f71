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

/** Signs up over a new connection. Rejects when it is not accepted within ten seconds. */
export async function signUp(url: string): Promise<void> {
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
}

/** A visitor at another address who signs up again and again while an attack runs. */
export class Bystander {
  readonly #run: Promise<void>
  #hasSeenEnough = false

  constructor(url: string) {
    this.#run = this.#signUpAgainAndAgain(url)
    // `leave` reports the error.
    this.#run.catch(() => {})
  }

  /** Stops. Rejects when a signup was refused. */
  async leave(): Promise<void> {
    this.#hasSeenEnough = true
    await this.#run
  }

  async #signUpAgainAndAgain(url: string): Promise<void> {
    while (!this.#hasSeenEnough) {
      await signUp(url)
      await sleep(pauseMs)
    }
  }
}
