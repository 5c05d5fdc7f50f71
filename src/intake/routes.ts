import { type Handler, Hono } from 'hono'

import type { Health } from '../ops/health.ts'
import type { Logger } from '../ops/log.ts'
import { limits } from '../signup/limits.ts'
import type { SignupId } from '../signup/signup.ts'
import type { ConfigAnswer } from '../signup/wire.ts'
import { ok, problem, readiness, refuse, RequestRefused, signupStatus } from './respond.ts'
import { postSignup, type SignupIntake } from './signup.ts'

export interface IntakeOptions extends SignupIntake {
  readonly log: Logger
}

/** The HTTP application: every path, and what answers it. */
export function createIntake(options: IntakeOptions): Hono {
  const { journal, health, log } = options
  const app = new Hono()

  const route = (method: 'GET' | 'POST', path: string, handler: Handler) => {
    app.on(method, path, handler)
    app.all(path, () => {
      throw refuse.method(method === 'GET' ? ['GET', 'HEAD'] : [method])
    })
  }

  route('GET', '/api/health', () => ok({ status: 'ok' }))
  route('GET', '/api/ready', async ({ req }) => {
    const isStrict = req.query('strict') !== undefined
    return ready(health, await journal.backlog(), isStrict)
  })
  route('GET', '/api/config', () => ok(publicConfig(options)))
  route('POST', '/api/signup', ({ req }) => postSignup(req.raw, options))
  route('GET', '/api/signup/:id', async ({ req }) => {
    const status = await journal.find(req.param('id')?.toLowerCase() as SignupId)
    if (!status) throw refuse.noSuchSignup()
    return signupStatus(status)
  })

  app.notFound(() => problem(refuse.noSuchPath(), crypto.randomUUID()))
  app.onError((error) => {
    const requestId = crypto.randomUUID()
    if (error instanceof RequestRefused) return problem(error, requestId)
    log.error({ err: error, requestId }, 'a request failed in a way that nobody foresaw')
    return problem(refuse.unexpected(), requestId)
  })
  return app
}

/** Ready while signups can be stored: a spreadsheet that is out of reach turns nobody away. */
function ready({ journal, delivery, tabs }: Health, backlog: number, isStrict: boolean): Response {
  const isBlocked = delivery.state === 'blocked' || tabs.size > 0
  const body = {
    status: journal.state === 'ok' ? 'ready' : 'unavailable',
    journal,
    delivery: { ...delivery, backlog, tabsSetAside: [...new Set(tabs.values())] },
  }
  return readiness(body, journal.state === 'ok' && !(isStrict && isBlocked))
}

function publicConfig({ defaultTab, bodyBytesMax }: IntakeOptions): ConfigAnswer {
  return {
    challengeEnabled: false,
    challengeSiteKey: null,
    challengeProvider: 'turnstile',
    challengeScriptUrl: 'https://challenges.cloudflare.com/turnstile/v0/api.js',
    defaultSheetTab: defaultTab,
    sheetTabs: null,
    limits: { ...limits, bodyBytesMax },
  }
}
