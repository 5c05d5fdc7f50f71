import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { startLoopbackServer } from '../loopback-server.ts'
import { type Call, drop, hold, type Reply, textAnswer } from './answer.ts'
import {
  type Counters,
  EmulatedChallenge,
  type EmulatorOptions,
  type WidgetSwitches,
} from './emulator.ts'
import { providerNames, providerRules, type ProviderName } from './providers.ts'
import type { Site } from './tokens.ts'
import { answerSiteverify } from './verify-endpoint.ts'
import { answerFrame, answerScript } from './widget-endpoints.ts'

/** An emulator on 127.0.0.1. `await using` stops it. */
export interface ChallengeEmulator extends AsyncDisposable {
  /** `http://127.0.0.1:port`, the origin of scripts and frames for a page's CSP. */
  readonly url: string
  readonly faults: EmulatedChallenge['faults']
  readonly calls: EmulatedChallenge['calls']
  readonly counters: Counters
  /** Registers a new pair of keys. */
  createSite(provider?: ProviderName): Site
  issueToken: EmulatedChallenge['issueToken']
  /** Changes some switches. */
  setWidget(switches: Partial<WidgetSwitches>): void
  /** The address at which tokens of this provider are verified. */
  verifyUrl(provider?: ProviderName): string
  /** The address of this provider's script. */
  scriptUrl(provider?: ProviderName): string
  stop(): Promise<void>
}

/** Starts the emulator on 127.0.0.1. */
export async function startChallengeEmulator(
  options: EmulatorOptions = {},
): Promise<ChallengeEmulator> {
  const challenge = new EmulatedChallenge(options)
  const { url, stop } = await startLoopbackServer((request, response) =>
    serve(challenge, request, response),
  )
  return {
    url,
    faults: challenge.faults,
    calls: challenge.calls,
    get counters() {
      return challenge.counters
    },
    createSite: challenge.office.createSite.bind(challenge.office),
    issueToken: challenge.issueToken.bind(challenge),
    setWidget: (switches) => {
      challenge.widget = { ...challenge.widget, ...switches }
    },
    verifyUrl: (provider = 'turnstile') => url + providerRules[provider].verifyPath,
    scriptUrl: (provider = 'turnstile') => url + providerRules[provider].scriptPath,
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

async function serve(
  challenge: EmulatedChallenge,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const method = request.method ?? 'GET'
  const target = new URL(request.url ?? '/', 'http://emulator')
  const contentType = request.headers['content-type'] ?? ''
  const body = await text(request)
  const reply = await route(challenge, { method, target, contentType, body })
  if (reply === hold) return
  if (reply === drop) {
    request.socket.destroy()
    return
  }
  response.writeHead(reply.status, reply.headers)
  response.end(reply.body)
}

async function route(challenge: EmulatedChallenge, call: Call): Promise<Reply> {
  const path = call.target.pathname
  if (path.startsWith('/widget/')) return answerFrame(challenge, call)
  for (const provider of providerNames) {
    const { verifyPath, scriptPath } = providerRules[provider]
    if (path === verifyPath) return answerSiteverify(challenge, provider, call)
    if (path === scriptPath) return answerScript(challenge, provider)
  }
  return textAnswer(404, `${call.method} ${path} is not there.\n`)
}
