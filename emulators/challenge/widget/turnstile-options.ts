export type Options = Readonly<Record<string, unknown>>

/** As the real script throws it; the codes are Turnstile's, the words are ours. */
export class TurnstileError extends Error {
  override readonly name = 'TurnstileError'
  readonly code: number

  constructor(message: string, code: number) {
    super(`[Cloudflare Turnstile] ${message}`)
    this.code = code
  }
}

const choices: Readonly<Record<string, readonly string[]>> = {
  theme: ['auto', 'light', 'dark'],
  size: ['normal', 'flexible', 'compact', 'invisible'],
  retry: ['auto', 'never'],
  'refresh-expired': ['auto', 'manual', 'never'],
  'refresh-timeout': ['auto', 'manual', 'never'],
  appearance: ['always', 'execute', 'interaction-only'],
  execution: ['render', 'execute'],
}

const callbacks = [
  'callback',
  'error-callback',
  'expired-callback',
  'timeout-callback',
  'before-interactive-callback',
  'after-interactive-callback',
  'unsupported-callback',
]

const isLanguage = /^(auto|[a-z]{2,3}(-[a-z]{2,4})?)$/i
const retryIntervalMaxMs = 900_000

/** Throws for the first option that the real script would refuse. */
export function checkOptions(options: Options): void {
  const { sitekey, language = 'auto' } = options
  if (typeof sitekey !== 'string' || sitekey === '') refuse('sitekey', sitekey, 3588)
  for (const [name, allowed] of Object.entries(choices)) {
    const given = options[name]
    if (given !== undefined && !allowed.some((one) => one === given)) refuse(name, given, 3589)
  }
  for (const name of callbacks) {
    const given = options[name]
    if (given !== undefined && typeof given !== 'function') refuse(name, given, 3589)
  }
  checkText('action', options['action'], 32)
  checkText('cData', options['cData'] ?? options['cdata'], 255)
  if (typeof language !== 'string' || !isLanguage.test(language)) {
    refuse('language', language, 3589)
  }
  const interval = Number(options['retry-interval'] ?? 1)
  if (!(interval > 0 && interval < retryIntervalMaxMs)) refuse('retry-interval', interval, 3589)
}

function checkText(name: string, given: unknown, charactersMax: number): void {
  if (given === undefined || given === '') return
  const isFine = typeof given === 'string' && /^[\w-]+$/.test(given)
  if (!isFine || given.length > charactersMax) refuse(name, given, 3604)
}

function refuse(name: string, given: unknown, code: number): never {
  throw new TurnstileError(`Invalid value for "${name}": ${JSON.stringify(given)}.`, code)
}
