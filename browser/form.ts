import { watchFields } from './fields.ts'
import type { GateSetup } from './gate.ts'
import { placeMessages } from './messages.ts'
import { once } from './once.ts'
import { loadLater, nonce } from './place.ts'
import type { Texts } from './texts.ts'
import type { Told } from './told.ts'

export interface FormSetup extends Omit<GateSetup, 'nonce' | 'signal'> {
  readonly form: HTMLFormElement
  readonly texts: Texts
  /** Where to go after signing up. */
  readonly redirect: string | undefined
  /** Names and values that are sent besides those in the form. */
  readonly extra: readonly (readonly [name: string, value: string])[]
  /** Gets the events. */
  readonly target: HTMLElement
}

/** What the page can do with a form of ours. */
export interface Handle {
  /** Empty again, ready for another signup. */
  readonly reset: () => void
  /** Lets go of the page: no listener, widget or message stays behind. */
  readonly remove: () => void
}

/** What the widgets of the providers leave. The token is taken from the widget itself. */
const tokenFields = /^(challengeToken|(cf-turnstile|h-captcha|g-recaptcha)-response)$/

/** What takes no longer needs no words. */
const quickMs = 700

/** Makes a form send its signup by itself, and tell the visitor how it goes. */
export function takeOver(setup: FormSetup): Handle {
  const { form, texts, target } = setup
  const life = new AbortController()
  const { signal } = life
  const fields = watchFields(form, texts, signal)
  const messages = placeMessages(form, texts)
  const hadNoValidate = form.noValidate
  form.noValidate = true
  let isBusy = false
  let slow = 0

  const onWait = (why: keyof Texts) => {
    clearTimeout(slow)
    messages.status(why)
  }
  // Until the first focus nothing is asked of the service, or of anybody else.
  const loadSender = once(async () => {
    const { createSender } = await loadLater()
    return createSender({ ...setup, nonce, signal, onWait })
  })
  const submit = async (data: URLSearchParams) => {
    isBusy = true
    showBusy(form, 'true')
    messages.status()
    slow = window.setTimeout(onWait, quickMs, 'sending')
    try {
      const accepted = await (await loadSender()).send(data)
      messages.status()
      const isShown = dispatch(target, 'success', accepted)
      if (isShown && !go(setup.redirect, data)) messages.done()
    } catch (error) {
      const { reason = 'failed', status, problem } = error as Partial<Told>
      const isBeside = fields.refuse(problem?.errors ?? [])
      if (!isBeside) messages.alert(reason)
      dispatch(target, 'error', { reason: isBeside ? 'fields' : reason, status, problem })
    }
    clearTimeout(slow)
    showBusy(form, null)
    isBusy = false
  }
  const on = (name: string, listener: (event: Event) => void) =>
    form.addEventListener(name, listener, { signal })
  on('submit', (event) => {
    event.preventDefault()
    const data = contentOf(form, (event as SubmitEvent).submitter, setup.extra)
    if (!isBusy && fields.check() && dispatch(target, 'submit', { data })) void submit(data)
  })
  on('focusin', () => {
    // What else goes wrong now is tried again, and told, when the form is sent.
    const tell = ({ reason }: Partial<Told>) => {
      if (!isBusy && reason === 'unavailable') messages.alert(reason)
    }
    void loadSender()
      .then((it) => it.prepare())
      .catch(tell)
  })
  return {
    reset: () => {
      form.reset()
      fields.clear()
      messages.clear()
    },
    remove: () => {
      life.abort()
      fields.clear()
      messages.remove()
      form.noValidate = hadNoValidate
    },
  }
}

/** What is sent: text fields, without tokens. */
function contentOf(
  form: HTMLFormElement,
  submitter: HTMLElement | null,
  extra: FormSetup['extra'],
): URLSearchParams {
  const content = new URLSearchParams()
  for (const [name, value] of [...new FormData(form, submitter), ...extra]) {
    const isToken = tokenFields.test(name)
    if (typeof value === 'string' && !isToken) content.append(name, value)
  }
  return content
}

/** Not `disabled`: that would drop the focus. */
function showBusy(form: HTMLFormElement, busy: string | null): void {
  form.ariaBusy = busy
  for (const button of form.querySelectorAll('[type=submit],button:not([type])')) {
    button.ariaDisabled = busy
  }
}

/** False when the page has cancelled it. */
function dispatch(target: HTMLElement, name: string, detail: unknown): boolean {
  const options = { detail, bubbles: true, composed: true, cancelable: true }
  return target.dispatchEvent(new CustomEvent(`rollcall:${name}`, options))
}

/**
 * Leaves for another page, if one is asked for. The page's own option may lead anywhere; a field
 * of the form, which may come from the page's address, only to a page of the same origin.
 */
function go(option: string | undefined, data: URLSearchParams): boolean {
  const wanted = option ?? data.get('redirect')
  const link = document.createElement('a')
  link.href = wanted ?? ''
  const isAllowed = option ? /^https?:$/.test(link.protocol) : link.origin === location.origin
  if (!wanted || !isAllowed) return false
  location.assign(link.href)
  return true
}
