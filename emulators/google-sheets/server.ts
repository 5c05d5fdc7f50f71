import type { IncomingMessage, ServerResponse } from 'node:http'
import { type LoopbackServer, startLoopbackServer } from '../loopback-server.ts'
import { answerAdmin } from './admin.ts'
import type { Answer } from './answer.ts'
import { Deliveries } from './deliveries.ts'
import { EmulatedGoogle, type EmulatorOptions } from './emulator.ts'
import { noSuchPath } from './front-end.ts'
import { isSignIn } from './sign-in.ts'
import { answerView } from './view.ts'

/** An emulator on 127.0.0.1. `await using` stops it. */
export class GoogleEmulator extends EmulatedGoogle implements AsyncDisposable {
  readonly #deliveries = new Deliveries(this)
  #server: LoopbackServer | undefined

  /** `http://127.0.0.1:port`. It stands for `https://sheets.googleapis.com`. */
  get url(): string {
    if (!this.#server) throw new Error('The emulator has not been started.')
    return this.#server.url
  }

  /** Stands for `https://oauth2.googleapis.com/token`. */
  get tokenUrl(): string {
    return `${this.url}/token`
  }

  /** The number of calls that are held back. */
  get lateCount(): number {
    return this.#deliveries.lateCount
  }

  /** Applies the calls that faults hold back (`apply: 'later'`), oldest first. Returns their number. */
  releaseLate(): number {
    return this.#deliveries.releaseLate()
  }

  async start(port?: number): Promise<void> {
    const serve = (request: IncomingMessage, response: ServerResponse) =>
      this.#serve(request, response)
    this.#server = await startLoopbackServer(serve, port)
  }

  async stop(): Promise<void> {
    this.#deliveries.stop()
    await this.#server?.stop()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const method = request.method ?? 'GET'
    const target = new URL(request.url ?? '/', this.url)
    const body = await readBody(request)
    const path = target.pathname
    if (path.startsWith('/v4/') || isSignIn(path)) {
      const { authorization, 'metadata-flavor': given } = request.headers
      const flavor = given?.toString()
      const delivery = { method, target, authorization, flavor, body, tokenUrl: this.tokenUrl }
      await this.#deliveries.deliver(delivery, response)
      return
    }
    if (path.startsWith('/emulator')) {
      await send(response, answerAdmin(this, method, target, body))
      return
    }
    const view = method === 'GET' ? answerView(this, path) : undefined
    await send(response, view ?? noSuchPath(path))
  }
}

export async function startGoogleEmulator(options: EmulatorOptions = {}): Promise<GoogleEmulator> {
  const emulator = new GoogleEmulator(options)
  await emulator.start(options.port)
  return emulator
}

async function send(response: ServerResponse, answer: Answer): Promise<void> {
  response.writeHead(answer.status, answer.headers)
  await new Promise<void>((resolve) => response.end(answer.body, () => resolve()))
}

async function readBody(request: IncomingMessage): Promise<string> {
  request.setEncoding('utf8')
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text
}
