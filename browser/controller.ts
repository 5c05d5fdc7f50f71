import type { Problem } from '../src/signup/wire.ts'
import { extraEntries } from './extra.ts'
import { watchFields } from './fields.ts'
import type { FormSetup } from './form-setup.ts'
import type { Messages } from './messages.ts'
import { tellMistakes, tellRefusal } from './mistakes.ts'
import css from './states.css'
import { createSender, type SenderSetup } from './submission.ts'
import type { Texts } from './texts.ts'
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
  if (target !== form) tellMistakes(target)
  /** Above the form, and in the console to the page's author when that is who can mend it. */
  const alert = (reason: keyof Texts, problem: Problem | undefined) => {
    messages.alert(reason)
    if (problem) tellRefusal(problem)
  }
  return {
    clear: () => fields.clear(),
    prepare: async () => {
      try {
        await sender.prepare()
      } catch (error) {
        const { reason, problem } = error as Partial<Told>
        const isClosed = reason === 'unavailable' || reason === 'forbidden'
        if (!form.ariaBusy && isClosed) alert(reason, problem)
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
        if (!isBeside) alert(reason, problem)
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
