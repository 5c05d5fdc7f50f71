import type { GateSetup } from './gate.ts'
import type { Options } from './options.ts'
import type { Texts } from './texts.ts'

/** A form that is to send its signup by itself. */
export interface FormSetup extends Omit<GateSetup, 'nonce' | 'signal'> {
  readonly form: HTMLFormElement
  readonly texts: Texts
  readonly options: Options
  /** Gets the events: the form itself, or the element whose form it is. */
  readonly target: HTMLElement
}
