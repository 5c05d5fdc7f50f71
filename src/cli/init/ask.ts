import { confirm, isCancel, password, select, text } from '@clack/prompts'
import { visible } from '../../platform/visible.ts'

/** The person has pressed Ctrl-C, or the command was stopped. */
export class Cancelled extends Error {
  override readonly name = 'Cancelled'
}

export interface TextQuestion {
  readonly message: string
  readonly placeholder?: string
  /** What Enter alone gives, and what can be edited. */
  readonly initialValue?: string
  /** Says what is wrong with an answer; undefined when nothing is. */
  readonly problem: (answer: string) => string | undefined
}

export interface Choice<T> {
  readonly value: T
  readonly label: string
}

/** Asks on the terminal. Every method rejects with `Cancelled`. */
export interface Ask {
  text(question: TextQuestion): Promise<string>
  /** The answer is not shown. */
  secret(question: Pick<TextQuestion, 'message' | 'problem'>): Promise<string>
  choose<T extends string>(message: string, choices: readonly Choice<T>[]): Promise<T>
  /** Enter alone means `otherwise`. */
  isSure(message: string, otherwise: boolean): Promise<boolean>
}

export function askOnTerminal(signal: AbortSignal): Ask {
  const validate = (problem: TextQuestion['problem']) => (answer: string | undefined) =>
    seen(problem((answer ?? '').trim()))
  return {
    async text({ problem, message, placeholder, initialValue }) {
      const shown = {
        message: visible(message),
        ...(placeholder !== undefined && { placeholder: visible(placeholder) }),
        // Enter alone would take the text with its numbers for the answer.
        ...(initialValue === seen(initialValue) && { initialValue }),
      }
      return unlessCancelled(await text({ ...shown, validate: validate(problem), signal })).trim()
    },
    async secret({ message, problem }) {
      return unlessCancelled(
        await password({ message: visible(message), validate: validate(problem), signal }),
      ).trim()
    },
    async choose<T extends string>(message: string, choices: readonly Choice<T>[]) {
      // The types of select cannot tell that a generic value is text.
      const options: { value: string; label: string }[] = choices.map(({ value, label }) => ({
        value,
        label: visible(label),
      }))
      return unlessCancelled(await select({ message: visible(message), options, signal })) as T
    },
    async isSure(message, initialValue) {
      return unlessCancelled(await confirm({ message: visible(message), initialValue, signal }))
    },
  }
}

function seen(text: string | undefined): string | undefined {
  return text === undefined ? undefined : visible(text)
}

function unlessCancelled<T>(answer: T): Exclude<T, symbol> {
  if (isCancel(answer)) throw new Cancelled('Stopped.')
  return answer as Exclude<T, symbol>
}
