import type { ConfigAnswer } from '../src/signup/wire.ts'
import { create } from './dom.ts'
import { Told } from './told.ts'

/** What the scripts of all three providers offer. */
interface WidgetApi {
  /** An id; undefined on failure. */
  render(box: HTMLElement, parameters: object): WidgetId | undefined
  reset(id: WidgetId): void
  getResponse(id: WidgetId): string | undefined
  isExpired?(id: WidgetId): boolean
  remove?(id: WidgetId): void
}

type WidgetId = number | string

const loadMaxMs = 12_000
const lookEveryMs = 50
/** Long enough for a person who has to solve a puzzle. */
const solveMaxMs = 120_000
/** Narrower than this, the normal widget of each provider sticks out. */
const normalWidthMin = 304

export interface ChallengeSetup {
  readonly config: ConfigAnswer
  /** Outside of any shadow root, where the providers' scripts can find it. */
  readonly box: HTMLElement
  readonly language: string
  readonly theme: string
  /** That of our own script tag: under a strict CSP the provider's script needs it, too. */
  readonly nonce: string
}

/** One widget in one form. */
export interface Challenge {
  /** The token of now, waited for if need be; `onWait` is called then, and when it is there. */
  readonly token: (onWait: (why: 'checking' | 'sending') => void) => Promise<string | undefined>
  /** A token is good for one answer. */
  readonly reset: () => void
  readonly remove: () => void
}

let loading: Promise<WidgetApi> | undefined

/**
 * Loads the provider's script, once for all forms, and shows its widget.
 * @throws Told, as `token` does
 */
export async function showChallenge(setup: ChallengeSetup): Promise<Challenge> {
  const { config, box, language, theme } = setup
  // A page may have taken the empty box out of the flow.
  const width = box.clientWidth || (box.parentElement?.clientWidth ?? 0)
  loading ??= loadScript(setup)
  const api = await loading.catch((error: unknown) => {
    loading = undefined
    throw error
  })
  let hasFailed = false
  let waiting: ((failure?: Told) => void) | undefined
  const id = api.render(box, {
    sitekey: config.challengeSiteKey,
    theme,
    language,
    size: width < normalWidthMin ? 'compact' : fullSize(config),
    appearance: 'interaction-only',
    retry: 'auto',
    'refresh-expired': 'auto',
    'response-field-name': 'challengeToken',
    callback: () => waiting?.(),
    'error-callback': () => {
      hasFailed = true
      waiting?.(new Told('checkFailed'))
      return true
    },
  })
  if (id === undefined) throw new Told('checkBlocked')
  const current = () => (api.isExpired?.(id) ? '' : api.getResponse(id))
  const reset = () => {
    hasFailed = false
    api.reset(id)
  }
  const token: Challenge['token'] = async (onWait) => {
    if (!current()) {
      if (hasFailed) reset()
      onWait('checking')
      await new Promise<void>((resolve, reject) => {
        waiting = (failure) => (failure ? reject(failure) : resolve())
        setTimeout(waiting, solveMaxMs, new Told('checkFailed'))
      })
      onWait('sending')
    }
    return current()
  }
  return { token, reset, remove: () => api.remove?.(id) }
}

function fullSize({ challengeProvider }: ConfigAnswer): string {
  return challengeProvider === 'turnstile' ? 'flexible' : 'normal'
}

async function loadScript({ config, language, nonce }: ChallengeSetup): Promise<WidgetApi> {
  const { challengeProvider, challengeScriptUrl } = config
  const global = challengeProvider === 'recaptcha' ? 'grecaptcha' : challengeProvider
  const url = new URL(challengeScriptUrl)
  url.searchParams.set('render', 'explicit')
  // Turnstile takes the language with the widget.
  if (challengeProvider !== 'turnstile') url.searchParams.set('hl', language)
  const script = create('script', { src: url.href, async: '', nonce })
  let isBlocked = false as boolean
  script.onerror = () => (isBlocked = true)
  // The page itself may be loading it already, and a second one does harm.
  const isThere = document.querySelector(`script[src^="${challengeScriptUrl}"]`)
  if (!isThere) document.head.append(script)

  // Looked for again and again: one of the providers is ready only a while after its script ran.
  for (let waitedMs = 0; waitedMs < loadMaxMs && !isBlocked; waitedMs += lookEveryMs) {
    const api = (window as unknown as Record<string, WidgetApi | undefined>)[global]
    if (api && 'render' in api) return api
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs))
  }
  script.remove()
  throw new Told('checkBlocked')
}
