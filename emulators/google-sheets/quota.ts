import { ApiError } from './api-error.ts'
import type { Caller } from './state.ts'

/** Allows `limit` calls in any window of `windowMs`, for each user or each Cloud project. */
export interface QuotaRule {
  readonly access: 'read' | 'write' | 'any'
  readonly per: 'user' | 'project'
  readonly limit: number
  readonly windowMs: number
}

const minuteMs = 60_000

/** Google's quota today: 60 reads and 60 writes a minute for a user, and 300 each for a project. */
export const googleQuota: readonly QuotaRule[] = (['read', 'write'] as const).flatMap((access) => [
  { access, per: 'user', limit: 60, windowMs: minuteMs },
  { access, per: 'project', limit: 300, windowMs: minuteMs },
])

/** Google's quota with its older limits: 100 calls in 100 seconds and 10,000 a day. */
export const strictQuota: readonly QuotaRule[] = [
  ...googleQuota,
  { access: 'any', per: 'user', limit: 100, windowMs: 100_000 },
  { access: 'any', per: 'project', limit: 10_000, windowMs: 24 * 60 * minuteMs },
]

/**
 * Counts calls in sliding windows, which is the strictest reading of "refilled every minute". Refused calls
 * do not count.
 */
export class QuotaLedger {
  readonly #rules: readonly QuotaRule[]
  readonly #taken = new Map<string, number[]>()
  readonly #projectNumber: string

  constructor(rules: readonly QuotaRule[], projectNumber = '123456789012') {
    this.#rules = rules
    this.#projectNumber = projectNumber
  }

  /** Counts a call, or throws the 429 when a window is full. */
  take(caller: Caller, access: 'read' | 'write', nowMs: number): void {
    const windows: number[][] = []
    for (const [index, rule] of this.#rules.entries()) {
      if (rule.access !== 'any' && rule.access !== access) continue
      const key = `${index} ${rule.per === 'user' ? caller.email : caller.project}`
      const times = this.#taken.get(key) ?? []
      while (times[0] !== undefined && times[0] <= nowMs - rule.windowMs) times.shift()
      if (times.length >= rule.limit) throw quotaExceeded(rule, access, this.#projectNumber)
      this.#taken.set(key, times)
      windows.push(times)
    }
    for (const times of windows) times.push(nowMs)
  }
}

/** Google's 429 for the limit that was reached. */
export function quotaExceeded(
  rule: QuotaRule,
  access: 'read' | 'write',
  projectNumber = '123456789012',
): ApiError {
  const Access = access === 'read' ? 'Read' : 'Write'
  const perUser = rule.per === 'user'
  const [unit, Unit] = windowNames(rule.windowMs)
  const limitName = `${Access} requests per ${unit}${perUser ? ' per user' : ''}`
  const message = `Quota exceeded for quota metric '${Access} requests' and limit '${limitName}' of service 'sheets.googleapis.com' for consumer 'project_number:${projectNumber}'.`
  return new ApiError(429, 'RESOURCE_EXHAUSTED', message, [
    {
      '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
      reason: 'RATE_LIMIT_EXCEEDED',
      domain: 'googleapis.com',
      metadata: {
        quota_metric: `sheets.googleapis.com/${access}_requests`,
        quota_limit: `${Access}RequestsPer${Unit}Per${perUser ? 'User' : 'Project'}`,
        quota_limit_value: String(rule.limit),
        quota_unit: `1/${unit === 'minute' ? 'min' : unit}/{project}${perUser ? '/{user}' : ''}`,
        quota_location: 'global',
        service: 'sheets.googleapis.com',
        consumer: `projects/${projectNumber}`,
      },
    },
    {
      '@type': 'type.googleapis.com/google.rpc.Help',
      links: [
        {
          description: 'Request a higher quota limit.',
          url: 'https://cloud.google.com/docs/quotas/help/request_increase',
        },
      ],
    },
  ])
}

function windowNames(windowMs: number): readonly [string, string] {
  if (windowMs === minuteMs) return ['minute', 'Minute']
  if (windowMs === 24 * 60 * minuteMs) return ['day', 'Day']
  return [`${windowMs / 1000} seconds`, `${windowMs / 1000}Seconds`]
}
