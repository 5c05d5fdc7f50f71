import { generateKeyPairSync } from 'node:crypto'
import { CallLog, type CallCounters } from './call-log.ts'
import { realClock, type EmulatorClock } from './clock.ts'
import { planFaults, seededRandom } from './faults.ts'
import { FrontEnd } from './front-end.ts'
import { SheetsModel } from './model.ts'
import { googleQuota, QuotaLedger, strictQuota, type QuotaRule } from './quota.ts'
import { owner, SpreadsheetHandle } from './spreadsheet-handle.ts'
import type { ModelOptions, Role } from './state.ts'
import { TokenOffice } from './tokens.ts'

export interface EmulatorOptions {
  /** Port on 127.0.0.1; 0, the default, picks a free one. */
  readonly port?: number
  readonly clock?: EmulatorClock
  /** `google` (default): today's limits. `strict`: the older ones too. `off`: none. */
  readonly quota?: 'google' | 'strict' | 'off' | readonly QuotaRule[]
  /** Switches for open questions, and smaller limits. */
  readonly model?: Partial<ModelOptions>
  /** Whether the log keeps bodies of requests. Default false. */
  readonly logBodies?: boolean
  /** The seed of ids that Google chooses and of faults with a probability. */
  readonly seed?: number
}

export interface ServiceAccount {
  readonly email: string
  /** PKCS#8, as in Google's JSON key files. */
  readonly privateKeyPem: string
}

export interface SpreadsheetOptions {
  readonly id?: string
  readonly title?: string
  /** An editor, or roles by address. */
  readonly sharedWith?: string | Readonly<Record<string, Role>>
}

interface KeyPair {
  readonly publicKey: string
  readonly privateKey: string
}

/** Accounts share one RSA key, because making one takes long. */
let sharedKeyPair: KeyPair | undefined

function makeKeyPair(): KeyPair {
  return generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
}

/** The emulated Google without its HTTP server: accounts, spreadsheets, faults and the log. */
export class EmulatedGoogle {
  readonly clock: EmulatorClock
  readonly model: SheetsModel
  readonly tokens = new TokenOffice()
  readonly faults: ReturnType<typeof planFaults>
  readonly log = new CallLog()
  readonly frontEnd: FrontEnd
  readonly logBodies: boolean
  #accountCount = 0

  constructor(options: EmulatorOptions = {}) {
    const random = options.seed === undefined ? Math.random : seededRandom(options.seed)
    this.clock = options.clock ?? realClock
    this.model = new SheetsModel({ random, ...options.model })
    this.faults = planFaults(random)
    this.frontEnd = new FrontEnd(this.model, this.tokens, new QuotaLedger(rulesOf(options.quota)))
    this.logBodies = options.logBodies ?? false
  }

  get counters(): CallCounters {
    return this.log.counters
  }

  /** Issues a bearer token without the token endpoint. */
  issueToken(email: string): string {
    return this.tokens.issue(email, this.clock.now())
  }

  /** Registers a service account, or replaces the key of one. `ownKey` makes a new key. */
  createServiceAccount(
    email = `robot-${(this.#accountCount += 1)}@emulated-project.iam.gserviceaccount.com`,
    { ownKey = false } = {},
  ): ServiceAccount {
    const pair = ownKey ? makeKeyPair() : (sharedKeyPair ??= makeKeyPair())
    this.tokens.register({ email, project: 'emulated-project' }, pair.publicKey)
    return { email, privateKeyPem: pair.privateKey }
  }

  createSpreadsheet(options: SpreadsheetOptions = {}): SpreadsheetHandle {
    const { id, title, sharedWith = {} } = options
    const roles =
      typeof sharedWith === 'string' ? ({ [sharedWith]: 'editor' } as const) : sharedWith
    const state = this.model.create({
      ...(id === undefined ? {} : { id }),
      ...(title === undefined ? {} : { title }),
      sharedWith: { [owner.email]: 'owner', ...roles },
    })
    return new SpreadsheetHandle(this.model, state)
  }

  spreadsheet(id: string): SpreadsheetHandle {
    return new SpreadsheetHandle(this.model, this.model.find(id))
  }
}

function rulesOf(quota: EmulatorOptions['quota'] = 'google'): readonly QuotaRule[] {
  if (typeof quota !== 'string') return quota
  return { google: googleQuota, strict: strictQuota, off: [] }[quota]
}
