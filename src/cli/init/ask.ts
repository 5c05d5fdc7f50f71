import { confirm, isCancel, password, select, text } from '@clack/prompts'

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
    problem((answer ?? '').trim())
  return {
    async text({ problem, ...question }) {
      return unlessCancelled(
        await text({ ...question, validate: validate(problem), signal }),
      ).trim()
    },
    async secret({ message, problem }) {
      return unlessCancelled(
        await password({ message, validate: validate(problem), signal }),
      ).trim()
    },
    async choose<T extends string>(message: string, choices: readonly Choice<T>[]) {
      // The types of select cannot tell that a generic value is text.
      const options: { value: string; label: string }[] = choices.map(({ value, label }) => ({
        value,
        label,
      }))
      return unlessCancelled(await select({ message, options, signal })) as T
    },
    async isSure(message, initialValue) {
      return unlessCancelled(await confirm({ message, initialValue, signal }))
    },
  }
}

function unlessCancelled<T>(answer: T): Exclude<T, symbol> {
  if (isCancel(answer)) throw new Cancelled('Stopped.')
  return answer as Exclude<T, symbol>
}
