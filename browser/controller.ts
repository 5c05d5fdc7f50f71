import type { ConfigAnswer } from '../src/signup/wire.ts'
import type { Author } from './author.ts'
import { create } from './dom.ts'
import { dispatch } from './events.ts'
import { loadMessages, watchFields } from './fields.ts'
import type { FormSetup } from './form-setup.ts'
import type { Messages } from './messages.ts'
import css from './states.css'
import { mayPass } from './service.ts'
import { createSender, type SenderSetup } from './submission.ts'
import { laterEnglish } from './texts.ts'
import type { Told } from './told.ts'
import type { Options } from './options.ts'

export interface ControllerSetup extends FormSetup, SenderSetup {
  readonly messages: Messages
  readonly isOption: (name: string) => boolean
  readonly tellAuthor: (tell: (author: Author) => unknown) => void
  /** The query of the page's address when the page was opened. */
  readonly arrivedWith: string
}

/** Handles a form from the first focus on. */
export type Controller = Awaited<ReturnType<typeof createController>>

/** The fields that the providers' widgets add. They are not sent: the token comes from the widget itself. */
const tokenFields = /^(challengeToken|altcha|(cf-turnstile|h-captcha|g-recaptcha)-response)$/

/** One more stylesheet for all forms, which is loaded with the first focus. */
const sheet = new CSSStyleSheet()
sheet.replaceSync(css)

export async function createController(setup: ControllerSetup) {
  const { form, target, options, messages, language, thanks } = setup
  // Frameworks and other tools have attributes of their own.
  const unknown = [...target.getAttributeNames(), ...Object.keys(options)].filter(
    (it) => /^(?!class|texts|fields|no)[a-z]+$/.test(it) && !(it in target) && !setup.isOption(it),
  )
  if (unknown[0]) setup.tellAuthor((it) => it.unknown(unknown))
  const root = form.getRootNode()
  if (root instanceof ShadowRoot && target !== form) root.adoptedStyleSheets.push(sheet)
  // The page's own texts win, and so do those of a language that arrives after this.
  const texts = Object.assign(setup.texts, { ...laterEnglish, ...setup.texts })
  const fields = watchFields({ ...setup, texts, messages: await loadMessages(form, language) })
  const sender = createSender(setup)
  // The embed has it above the form.
  if (target === form) sender.config().then(showWaiting(form, messages), String)
  /** Shows a problem above the form, and in the console when only the page's author can correct it. */
  const alert = ({ reason = 'failed', status = 0, problem, words }: Partial<Told>) => {
    messages.alert(reason, words)
    if (!words && !mayPass(status))
      setup.tellAuthor((it) => it.refused(setup.endpoint, status, problem))
  }
  const clear = (): void => {
    fields.clear()
    messages.done.textContent = form.style.display = ''
  }
  /** What tells the visitor to look into the mail. Its button brings the form back as it was sent. */
  const pending = (isWaiting = false): readonly Node[] => {
    const again = create('button', { type: 'button', class: 'again' }, texts.again)
    again.onclick = () => {
      clear()
      form.querySelector<HTMLElement>('[name=email]')?.focus()
    }
    const waiting = isWaiting ? [texts.waiting] : []
    const lines = [...waiting, texts.pendingText, texts.pendingSpam, again]
    return [create('strong', {}, texts.pending), ...lines.map((it) => create('p', {}, it))]
  }
  return {
    /** Shows the form again, and removes the thanks and every note beside a field. */
    clear,
    /** Prepares for sending, for example shows the challenge. */
    prepare: () =>
      sender.prepare().catch((error: unknown) => {
        const { reason } = error as Partial<Told>
        // A visitor may still pass the challenge, or allow it.
        const isClosed = reason && !reason.startsWith('check')
        if (!form.ariaBusy && isClosed) alert(error as Partial<Told>)
      }),
    /** Checks the fields, sends the signup and shows the result. */
    submit: async (submitter: HTMLElement | null): Promise<void> => {
      collect(form, setup.arrivedWith)
      const data = contentOf(form, submitter, extraEntries(options, form, setup.arrivedWith))
      if (!fields.check() || !dispatch(target, 'submit', { data })) return
      try {
        const accepted = await sender.send(data)
        messages.status()
        const { status, overflow } = accepted
        // The page to go to is for those who have a seat.
        if (dispatch(target, 'success', accepted) && (overflow || !go(options.redirect, data))) {
          const ending = overflow ? [texts.waiting] : [texts.done, ...(thanks?.() ?? [])]
          thank(form, messages.done, status === 'pending' ? pending(overflow) : ending)
        }
      } catch (error) {
        const { reason = 'failed', status, problem } = error as Partial<Told>
        const isBeside = fields.refuse(problem?.errors ?? [])
        if (!isBeside) alert(error as Partial<Told>)
        dispatch(target, 'error', { reason: isBeside ? 'fields' : reason, status, problem })
      }
    },
  }
}

/** Tells of a waiting list. Not while something is sent, when it would take the place of what the form tells. */
function showWaiting(form: HTMLFormElement, messages: Messages) {
  return ({ overflow, notice }: ConfigAnswer): void => {
    if (overflow && !form.ariaBusy) messages.status('overflow', notice)
  }
}

function thank(form: HTMLFormElement, box: HTMLElement, content: readonly (Node | string)[]): void {
  const hadFocus = form.matches(':focus-within')
  form.style.setProperty('display', 'none', 'important')
  box.append(create('div', {}, ...content))
  if (hadFocus) box.focus()
}

/** The fields to send: text only, and no tokens. */
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

/**
 * Goes to another page if a redirect is set. The page's own option may lead anywhere. A field of the
 * form may come from the page's address, so it may only lead to the same origin.
 */
function go(option: string | undefined, data: URLSearchParams): boolean {
  const wanted = option ?? data.get('redirect') ?? ''
  const link = create('a', { href: wanted })
  const isAllowed = option ? /^https?:$/.test(link.protocol) : link.origin === location.origin
  if (!wanted || !isAllowed) return false
  location.assign(link.href)
  return true
}

type Entry = readonly [name: string, value: string]

/** Stays within the limits of the service, so that no page address makes a signup fail. */
const utmMax = 10
const utmCharactersMax = 200

/**
 * The fields that the options add to what the visitor types.
 *
 * @param form its own fields need no entry
 * @param arrivedWith the query of the page's address when the page was opened
 */
function extraEntries(options: Options, form: HTMLFormElement, arrivedWith: string): Entry[] {
  const { tab, source, tags, hidden, utm } = options
  const plain = { sheetTab: tab, source, tags: tags?.toString() }
  const given = Object.entries(plain).filter((entry): entry is [string, string] => !!entry[1])
  const metadata = [...Object.entries(hidden ?? {}), ...(utm ? utmEntries(arrivedWith) : [])]
  const others = metadata.filter(([name]) => !form.elements.namedItem(name))
  return [...given, ...others.map(([name, value]) => [`metadata[${name}]`, value] as const)]
}

/** Fills the declared fields that no visitor sees: `utm_…` from the page's address, and the page before. */
function collect(form: HTMLFormElement, arrivedWith: string): void {
  for (const input of form.querySelectorAll<HTMLInputElement>('[data-collect]')) {
    const { name, dataset } = input
    const value =
      name === 'referrer' ? document.referrer.split(/[?#]/)[0] : queries(arrivedWith).get(name)
    input.value ||= (value ?? '').slice(0, Number(dataset['collect']))
  }
}

const queries = (arrivedWith: string) =>
  new Map(new URLSearchParams(`${arrivedWith}&${location.search.slice(1)}`))

function utmEntries(arrivedWith: string): Entry[] {
  return [...queries(arrivedWith)]
    .filter(([name, value]) => /^utm_\w{1,40}$/.test(name) && value)
    .slice(0, utmMax)
    .map(([name, value]) => [name, value.slice(0, utmCharactersMax)])
}
