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
  readonly initialValue?: string
  /** Says what is wrong with an answer; undefined when nothing is. */
  readonly problem: (answer: string) => string | undefined
}

/** Asks on the terminal. Every method rejects with `Cancelled`. */
export type Ask = ReturnType<typeof askOnTerminal>

export function askOnTerminal(signal: AbortSignal) {
  const validate = (problem: TextQuestion['problem']) => (answer: string | undefined) =>
    seen(problem((answer ?? '').trim()))
  return {
    async text({ problem, message, placeholder, initialValue }: TextQuestion): Promise<string> {
      const shown = {
        message: visible(message),
        ...(placeholder !== undefined && { placeholder: visible(placeholder) }),
        // Enter alone would take the text with its numbers for the answer.
        ...(initialValue === seen(initialValue) && { initialValue }),
      }
      return unlessCancelled(await text({ ...shown, validate: validate(problem), signal })).trim()
    },

    /** The answer is not shown. */
    async secret({ message, problem }: TextQuestion): Promise<string> {
      return unlessCancelled(
        await password({ message: visible(message), validate: validate(problem), signal }),
      ).trim()
    },

    /** @param choices the label of each value */
    async choose<T extends string>(message: string, choices: Readonly<Partial<Record<T, string>>>) {
      const options = Object.entries<string | undefined>(choices).map(([value, label = value]) => {
        return { value, label: visible(label) }
      })
      return unlessCancelled(await select({ message: visible(message), options, signal })) as T
    },

    /** Enter alone means `initialValue`. */
    async isSure(message: string, initialValue: boolean): Promise<boolean> {
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
