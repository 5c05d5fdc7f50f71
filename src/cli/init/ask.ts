import { confirm, isCancel, password, select, text } from '@clack/prompts'
import { visible } from '../../platform/visible.ts'

/** The person has pressed Ctrl-C, or the command was stopped. */
export class Cancelled extends Error {
  override readonly name = 'Cancelled'
}

interface TextQuestion {
  readonly message: string
  readonly placeholder?: string
  /** What Enter alone gives, and what can be edited. */
  readonly initialValue?: string | undefined
  /** Says what is wrong with an answer; undefined when nothing is. */
  readonly problem: (answer: string) => string | undefined
}

/** Asks on the terminal. Every method rejects with `Cancelled`. */
export type Ask = ReturnType<typeof askOnTerminal>

export function askOnTerminal(signal: AbortSignal) {
  const validate = (problem: TextQuestion['problem']) => (answer: string | undefined) => {
    const found = problem((answer ?? '').trim())
    return found && visible(found)
  }
  return {
    async text({ problem, initialValue: before = '', ...question }: TextQuestion): Promise<string> {
      // Enter alone would take a text with numbers for characters for the answer.
      const initialValue = before === visible(before) ? before : ''
      const shown = { ...question, initialValue, validate: validate(problem), signal }
      return unlessCancelled(await text(shown)).trim()
    },

    /** The answer is not shown. */
    async secret({ message, problem }: TextQuestion): Promise<string> {
      const shown = { message, validate: validate(problem), signal }
      return unlessCancelled(await password(shown)).trim()
    },

    /** @param choices each value with its label */
    async choose(message: string, choices: readonly (readonly [string, string])[]) {
      const options = choices.map(([value, label]) => ({ value, label: visible(label) }))
      return unlessCancelled(await select({ message, options, signal }))
    },

    /** Enter alone means `initialValue`. */
    async isSure(message: string, initialValue: boolean): Promise<boolean> {
      return unlessCancelled(await confirm({ message: visible(message), initialValue, signal }))
    },
  }
}

function unlessCancelled<T>(answer: T): Exclude<T, symbol> {
  if (isCancel(answer)) throw new Cancelled('Stopped.')
  return answer as Exclude<T, symbol>
}
