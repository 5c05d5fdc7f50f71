import type { ProblemField } from '../src/signup/wire.ts'
import { consentField } from './consent.ts'
import { create } from './dom.ts'
import { suggestEmail } from './suggestion.ts'
import type { Texts } from './texts.ts'

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement

/** After such a pause in typing, a suggestion does not disturb. */
const typingPauseMs = 500
let count = 0

/** The fields of a form, with a note beside each field that is wrong. */
export interface Fields {
  /** Whether all fields are valid. If not, the first wrong field gets the focus. */
  check(): boolean
  /** Shows the errors from the service. Returns false when the visitor cannot correct them. */
  refuse(errors: readonly ProblemField[]): boolean
  /** Removes every note. */
  clear(): void
}

interface FieldsSetup {
  readonly form: HTMLFormElement
  readonly texts: Texts
  readonly language: string
  readonly signal: AbortSignal
}

export function watchFields({ form, texts, language, signal }: FieldsSetup): Fields {
  /** Whether a button is being pressed. Nothing may move then, or the click would miss the button. */
  let isPressing = false
  let typing = 0

  const on = (target: EventTarget, name: string, listener: (target: EventTarget | null) => void) =>
    target.addEventListener(name, (event) => listener(event.target), { signal })
  on(form, 'pointerdown', (target) => {
    isPressing = target instanceof Element && !!target.closest('button,label')
  })
  on(window, 'pointerup', () => (isPressing = false))
  on(form, 'focusout', (control) => {
    if (!isPressing && isControl(control) && control.value) say(control, problemOf(control, texts))
  })
  const typed = (control: EventTarget | null) => {
    if (!isControl(control)) return
    if (isWrong(control) && !problemOf(control, texts)) say(control, '')
    clearTimeout(typing)
    typing = window.setTimeout(() => {
      if (control.name === 'email') suggest(control, suggestEmail(control.value), texts)
    }, typingPauseMs)
  }
  on(form, 'input', typed)
  // The visitor may have typed or pasted before this script was loaded.
  typed(controlsOf(form).find(({ name }) => name === 'email') ?? null)

  const show = (problemFor: (control: Control) => string) => {
    const wrong = controlsOf(form).filter((control) => {
      const problem = problemFor(control)
      say(control, problem)
      return problem
    })
    wrong[0]?.focus()
    return wrong.length === 0
  }
  return {
    check: () => show((control) => problemOf(control, texts)),
    refuse: (errors) =>
      !show(({ name }) => {
        const { message = '' } = errors.find(({ field }) => field === name) ?? {}
        // The messages of the service are in English.
        const isForeign = message && language !== 'en'
        if (isForeign && name === 'email') return texts.emailWrong
        return isForeign && name === consentField ? texts.consentMissing : message
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

function controlsOf(form: HTMLFormElement): Control[] {
  const names = new Set<string>()
  return [...form.elements].filter(isControl).filter(({ name, type }) => {
    // Of several radio buttons, only the first counts.
    const isNew = name && type !== 'hidden' && !names.has(name)
    names.add(name)
    return isNew
  })
}

function problemOf(control: Control, texts: Texts): string {
  const { name, value, validity, validationMessage } = control
  if (name === 'email') {
    if (!value.trim()) return texts.emailMissing
    return validity.valid && /@.*\.(?!\d+$)[^.]+$/.test(value.trim()) ? '' : texts.emailWrong
  }
  if (validity.valueMissing && name === 'name') return texts.nameMissing
  if (validity.valueMissing && name === consentField) return texts.consentMissing
  return validationMessage
}

function isControl(it: EventTarget | null): it is Control {
  return it instanceof Element && /^(INPUT|SELECT|TEXTAREA)$/.test(it.tagName)
}

function isWrong(control: Control): boolean {
  return markedOf(control).ariaInvalid === 'true'
}

function say(control: Control, problem: string): void {
  if (!problem && !isWrong(control)) return
  noteOf(control, 'problem').textContent = problem
  markedOf(control).ariaInvalid = problem ? 'true' : null
}

/** The element that is marked as wrong: radio buttons have one for all. */
function markedOf(control: Control): HTMLElement {
  return control.closest<HTMLElement>('[role=radiogroup]') ?? control
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
