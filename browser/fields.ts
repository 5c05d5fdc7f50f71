import type { ProblemField } from '../src/signup/wire.ts'
import { consentField } from '../src/pages/form-trees.ts'
import { unseenField } from '../src/signup/filter-fields.ts'
import { suggestEmail } from '../src/signup/suggest-email.ts'
import { create } from './dom.ts'
import type { Control, messageFor } from './field-messages.ts'
import type { Texts } from './texts.ts'

/** After such a pause in typing, a suggestion does not disturb. */
const typingPauseMs = 500
let count = 0

interface FieldMessages {
  readonly messageFor: typeof messageFor
}

interface FieldsSetup {
  readonly form: HTMLFormElement
  readonly texts: Texts
  readonly language: string
  readonly signal: AbortSignal
  /** The messages about the fields besides email, name and consent. */
  readonly messages: FieldMessages | undefined
}

/** Loads the messages in the form's language. Undefined when the form needs none, or when they do not come. */
export async function loadMessages(
  form: HTMLFormElement,
  language: string,
): Promise<FieldMessages | undefined> {
  const common = ['email', 'name', consentField]
  if (controlsOf(form).every(({ name }) => common.includes(name))) return undefined
  const path = `./fields/${language}.js`
  return (import(path) as Promise<FieldMessages>).catch(() => undefined)
}

export function watchFields({ form, texts, language, signal, messages }: FieldsSetup) {
  /** Whether a button is being pressed. Nothing may move then, or the click would miss the button. */
  let isPressing = false
  let typing = 0

  /** What to tell when the field is wrong; undefined when there is no text for it in the form's language. */
  const textFor = (control: Control) => {
    const isEmpty = !control.value.trim()
    if (control.name === 'email') return isEmpty ? texts.emailMissing : texts.emailWrong
    if (control.name === 'name' && isEmpty) return texts.nameMissing
    if (control.name === consentField) return texts.consentMissing
    return messages?.messageFor(control, texts)
  }
  const problemOf = (control: Control) =>
    isValid(control) ? '' : (textFor(control) ?? control.validationMessage)

  const on = (target: EventTarget, name: string, listener: (target: EventTarget | null) => void) =>
    target.addEventListener(name, (event) => listener(event.target), { signal })
  on(form, 'pointerdown', (target) => {
    isPressing = target instanceof Element && !!target.closest('button,label')
  })
  on(window, 'pointerup', () => (isPressing = false))
  on(form, 'focusout', (control) => {
    // The focus may go on to another box of the same group.
    const isAlone = isControl(control) && markedOf(control) === control
    if (!isPressing && isAlone && control.value) say(control, problemOf(control))
  })
  const typed = (control: EventTarget | null) => {
    if (!isControl(control)) return
    if (isWrong(control) && !problemOf(control)) say(control, '')
    clearTimeout(typing)
    typing = window.setTimeout(() => {
      if (control.name === 'email') suggest(control, suggestEmail(control.value), texts)
    }, typingPauseMs)
  }
  on(form, 'input', typed)
  // The visitor may have typed or pasted before this script was loaded, and the form may be given back.
  if (!signal.aborted) typed(form.elements.namedItem('email') as EventTarget | null)

  const show = (problemFor: (control: Control) => string) => {
    const wrong = controlsOf(form).filter((control) => {
      const problem = problemFor(control)
      say(control, problem)
      return problem
    })
    wrong[0]?.focus()
    return !wrong[0]
  }
  return {
    /** Whether all fields are valid. If not, the first wrong field gets the focus. */
    check: () => show(problemOf),
    /** Shows the errors from the service. Returns false when the visitor cannot correct them. */
    refuse: (errors: readonly ProblemField[]) =>
      !show((control) => {
        const isMeant = ({ field }: ProblemField) => field === control.name && !ofAuthor.test(field)
        const message = errors.find(isMeant)?.message ?? ''
        // The messages of the service are in English.
        return message && language !== 'en' ? (textFor(control) ?? message) : message
      }),
    clear: () => {
      clearTimeout(typing)
      for (const control of controlsOf(form)) {
        say(control, '')
        suggest(control, undefined, texts)
      }
    },
  }
}

/** What no visitor chooses, also where a control has that name: its message is for the page's author. */
const ofAuthor = /^(sheetTab|tab|site)$/

function controlsOf(form: HTMLFormElement): Control[] {
  const names = new Set<string>()
  return [...form.elements].filter(isControl).filter(({ name, type }) => {
    // Of several controls of one name, only the first counts.
    const isNew = name && type !== 'hidden' && name !== unseenField && !names.has(name)
    names.add(name)
    return isNew
  })
}

function isValid(control: Control): boolean {
  const { name, value, validity } = control
  const several = control.closest('[data-several=required]')
  if (several && !several.querySelector(':checked')) return false
  return validity.valid && (name !== 'email' || /@.*\.(?!\d+$)[^.]+$/.test(value.trim()))
}

function isControl(it: EventTarget | null): it is Control {
  return it instanceof Element && it.matches('input,select,textarea')
}

function isWrong(control: Control): boolean {
  return markedOf(control).ariaInvalid === 'true'
}

function say(control: Control, problem: string): void {
  if (!problem && !isWrong(control)) return
  noteOf(control, 'problem').textContent = problem
  markedOf(control).ariaInvalid = problem ? 'true' : null
}

/** The element that is marked as wrong: radio buttons and choices have one for all. */
function markedOf(control: Control): HTMLElement {
  return control.closest<HTMLElement>('[role=radiogroup],[data-several]') ?? control
}

/** Offers to replace the typed text. */
function suggest(control: Control, meant: string | undefined, texts: Texts): void {
  if (!meant) return findNote(control, 'suggestion')?.replaceChildren()
  const button = create('button', { type: 'button' }, texts.suggestion.replace('*', meant))
  button.onclick = () => {
    control.value = meant
    control.focus()
    say(control, '')
    button.remove()
  }
  noteOf(control, 'suggestion').replaceChildren(button)
}

function findNote(control: Control, kind: string): HTMLElement | null {
  // When the form is not on the page, its root may be a node without `getElementById`.
  const root = control.getRootNode() as ParentNode & Node
  return root.querySelector(`#${CSS.escape(markedOf(control).id)}-${kind}`)
}

/** The element beside a control for one kind of note, linked by `aria-describedby`. Made when first needed. */
function noteOf(control: Control, kind: string): HTMLElement {
  const marked = markedOf(control)
  marked.id ||= `rollcall-${++count}`
  const known = findNote(control, kind)
  if (known) return known
  const id = `${marked.id}-${kind}`
  const note = create('div', { id, class: `rollcall-${kind}`, role: 'status' })
  if (marked !== control) marked.append(note)
  else (findNote(control, 'problem') ?? control.closest('label') ?? control).after(note)
  const described = marked.getAttribute('aria-describedby') ?? ''
  marked.setAttribute('aria-describedby', `${described} ${id}`.trim())
  return note
}
