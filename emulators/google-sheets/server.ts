import type { IncomingMessage, ServerResponse } from 'node:http'
import { startLoopbackServer } from '../loopback-server.ts'
import { answerAdmin } from './admin.ts'
import type { Answer } from './answer.ts'
import { Deliveries } from './deliveries.ts'
import { EmulatedGoogle, type EmulatorOptions } from './emulator.ts'
import { noSuchPath } from './front-end.ts'
import { answerView } from './view.ts'

/** A running emulator. `await using` stops it. */
export interface GoogleEmulator extends AsyncDisposable {
  /** `http://127.0.0.1:port`, instead of `https://sheets.googleapis.com`. */
  readonly url: string
  /** Instead of `https://oauth2.googleapis.com/token`. */
  readonly tokenUrl: string
  readonly google: EmulatedGoogle
  readonly faults: EmulatedGoogle['faults']
  readonly log: EmulatedGoogle['log']
  readonly counters: EmulatedGoogle['counters']
  createServiceAccount: EmulatedGoogle['createServiceAccount']
  createSpreadsheet: EmulatedGoogle['createSpreadsheet']
  spreadsheet: EmulatedGoogle['spreadsheet']
  /** A bearer token without the token endpoint. */
  issueToken(email: string, scopes?: readonly string[]): string
  /** Applies the calls that faults hold back (`apply: 'later'`), oldest first; returns how many. */
  releaseLate(): number
  /** Number of calls that are held back. */
  readonly lateCount: number
  stop(): Promise<void>
}

const defaultScope = 'https://www.googleapis.com/auth/spreadsheets'

/** Starts the emulator on 127.0.0.1. */
export async function startGoogleEmulator(options: EmulatorOptions = {}): Promise<GoogleEmulator> {
  const google = new EmulatedGoogle(options)
  const deliveries = new Deliveries(google)
  let url = ''
  const server = await startLoopbackServer(
    (request, response) => serve({ google, deliveries, url }, request, response),
    options.port,
  )
  url = server.url

  const stop = async () => {
    deliveries.stop()
    await server.stop()
  }
  return {
    url,
    tokenUrl: `${url}/token`,
    google,
    faults: google.faults,
    log: google.log,
    get counters() {
      return google.counters
    },
    createServiceAccount: google.createServiceAccount.bind(google),
    createSpreadsheet: google.createSpreadsheet.bind(google),
    spreadsheet: google.spreadsheet.bind(google),
    issueToken: (email, scopes = [defaultScope]) =>
      google.tokens.issue(email, scopes, google.clock.now()),
    releaseLate: () => deliveries.releaseLate(),
    get lateCount() {
      return deliveries.lateCount
    },
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

interface Serving {
  readonly google: EmulatedGoogle
  readonly deliveries: Deliveries
  readonly url: string
}

async function serve(
  { google, deliveries, url }: Serving,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const method = request.method ?? 'GET'
  const target = new URL(request.url ?? '/', url)
  const body = await readBody(request)
  const path = target.pathname
  if (path.startsWith('/v4/') || path === '/token' || path === '/oauth2/v4/token') {
    const authorization = request.headers.authorization
    const tokenUrl = `${url}/token`
    await deliveries.deliver({ method, target, authorization, body, tokenUrl }, response)
    return
  }
  if (path.startsWith('/emulator')) {
    await send(response, answerAdmin({ google, deliveries }, method, target, body))
    return
  }
  const view = method === 'GET' ? answerView(google, path) : undefined
  await send(response, view ?? noSuchPath(path))
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
