import { extraEntries } from './extra.ts'
import { watchFields } from './fields.ts'
import type { FormSetup } from './form-setup.ts'
import type { Messages } from './messages.ts'
import css from './states.css'
import { createSender, type SenderSetup } from './submission.ts'
import type { Told } from './told.ts'

export interface ControllerSetup extends FormSetup, SenderSetup {
  readonly messages: Messages
  /** Query of the page's address when it was opened. */
  readonly arrivedWith: string
}

/** What is between a form and its visitor from the first focus on. */
export interface Controller {
  /** Gets everything ready for sending. */
  prepare(): Promise<void>
  /** Checks, sends and tells how it went. */
  submit(submitter: HTMLElement | null): Promise<void>
  /** Takes every note beside a field back. */
  clear(): void
}

/** What the widgets of the providers leave. The token is taken from the widget itself. */
const tokenFields = /^(challengeToken|(cf-turnstile|h-captcha|g-recaptcha)-response)$/

/** One for all forms, beside that which they have from the start. */
const sheet = new CSSStyleSheet()
sheet.replaceSync(css)

export function createController(setup: ControllerSetup): Controller {
  const { form, target, options, messages, texts, language, signal } = setup
  const root = form.getRootNode()
  if (root instanceof ShadowRoot && target !== form) root.adoptedStyleSheets.push(sheet)
  const fields = watchFields({ form, texts, language, signal })
  const sender = createSender(setup)
  return {
    clear: () => fields.clear(),
    prepare: async () => {
      try {
        await sender.prepare()
      } catch (error) {
        const { reason } = error as Partial<Told>
        const isClosed = reason === 'unavailable' || reason === 'forbidden'
        if (!form.ariaBusy && isClosed) messages.alert(reason)
      }
    },
    submit: async (submitter) => {
      const data = contentOf(form, submitter, extraEntries(options, setup.arrivedWith))
      if (!fields.check() || !dispatch(target, 'submit', { data })) return
      try {
        const accepted = await sender.send(data)
        messages.status()
        const isShown = dispatch(target, 'success', accepted)
        if (isShown && !go(options.redirect, data)) messages.done()
      } catch (error) {
        const { reason = 'failed', status, problem } = error as Partial<Told>
        const isBeside = fields.refuse(problem?.errors ?? [])
        if (!isBeside) messages.alert(reason)
        dispatch(target, 'error', { reason: isBeside ? 'fields' : reason, status, problem })
      }
    },
  }
}

/** What is sent: text fields, without tokens. */
function contentOf(
  form: HTMLFormElement,
  submitter: HTMLElement | null,
  extra: readonly (readonly [name: string, value: string])[],
): URLSearchParams {
  const content = new URLSearchParams()
  for (const [name, value] of [...new FormData(form, submitter), ...extra]) {
    const isToken = tokenFields.test(name)
    if (typeof value === 'string' && !isToken) content.append(name, value)
  }
  return content
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
