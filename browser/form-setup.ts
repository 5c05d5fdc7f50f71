import type { GateSetup } from './gate.ts'
import type { Options } from './options.ts'
import type { FormTexts } from './texts.ts'

/** What `takeOver` needs to know about a form. */
export interface FormSetup extends Omit<GateSetup, 'nonce' | 'signal'> {
  readonly form: HTMLFormElement
  readonly texts: FormTexts
  readonly options: Options
  /** Makes what follows the thanks, in the texts of then: the site's own text, and the link to its next page. */
  readonly thanks?: () => readonly Node[]
  /** The target of the events: the form itself, or the element that contains it. */
  readonly target: HTMLElement
}
