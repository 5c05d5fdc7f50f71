import type { Challenge, ChallengeSetup } from './challenge.ts'
import { create } from './dom.ts'
import { Told } from './told.ts'

/** The functions that the scripts of all three providers have. */
interface WidgetApi {
  /** Returns the widget's id; undefined on failure. */
  render(box: HTMLElement, parameters: object): WidgetId | undefined
  reset(id: WidgetId): void
  getResponse(id: WidgetId): string | undefined
  isExpired?(id: WidgetId): boolean
  remove?(id: WidgetId): void
}

type WidgetId = number | string

const loadMaxMs = 12_000
const lookEveryMs = 50
/** Gives a person enough time to solve a puzzle. */
const solveMaxMs = 120_000
/** In a narrower box, the normal widget of every provider overflows. */
const normalWidthMin = 304

let loading: Promise<WidgetApi> | undefined

/**
 * Loads the provider's script, once for all forms, and shows its widget.
 *
 * @throws Told when the challenge cannot be shown; `token` throws it, too
 */
export async function showChallenge(setup: ChallengeSetup): Promise<Challenge> {
  const box = setup.challengeBox()
  // The embed leaves space only for a widget that shows something.
  new ResizeObserver(() => {
    box.assignedSlot?.classList.toggle('challenged', box.clientHeight > 0)
  }).observe(box)
  try {
    return await showWidget(setup, box)
  } catch (error) {
    box.remove()
    throw error
  }
}

async function showWidget(setup: ChallengeSetup, box: HTMLElement): Promise<Challenge> {
  const { config, language, theme } = setup
  // The page's styles may take the empty box out of the flow; then use its parent's width.
  const width = box.clientWidth || (box.parentElement?.clientWidth ?? 0)
  loading ??= loadScript(setup)
  const api = await loading.catch((error: unknown) => {
    loading = undefined
    throw error
  })
  const fullSize = config.challengeProvider === 'turnstile' ? 'flexible' : 'normal'
  let hasFailed = false
  let waiting: ((failure?: Told) => void) | undefined
  const id = api.render(box, {
    sitekey: config.challengeSiteKey,
    theme: theme(),
    language,
    size: width < normalWidthMin ? 'compact' : fullSize,
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
  const remove = () => {
    api.remove?.(id)
    box.remove()
  }
  return { token, reset, remove }
}

async function loadScript({ config, language, nonce }: ChallengeSetup): Promise<WidgetApi> {
  const { challengeProvider, challengeScriptUrl } = config
  const global = challengeProvider === 'recaptcha' ? 'grecaptcha' : challengeProvider
  const url = new URL(challengeScriptUrl)
  url.searchParams.set('render', 'explicit')
  // Turnstile gets the language with the widget, the others with the script.
  if (challengeProvider !== 'turnstile') url.searchParams.set('hl', language)
  const script = create('script', { src: url.href, async: '', nonce })
  let isBlocked = false as boolean
  script.onerror = () => (isBlocked = true)
  // The page itself may have loaded the script, and loading it twice breaks it.
  const isThere = document.querySelector(`script[src^="${challengeScriptUrl}"]`)
  if (!isThere) document.head.append(script)

  // Check repeatedly, because one provider is ready only some time after its script ran.
  for (let waitedMs = 0; waitedMs < loadMaxMs && !isBlocked; waitedMs += lookEveryMs) {
    const api = (window as unknown as Record<string, WidgetApi | undefined>)[global]
    if (api && 'render' in api) return api
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs))
  }
  script.remove()
  throw new Told('checkBlocked')
}
