import type { Command, OptionValues } from '@commander-js/extra-typings'
import type { Session } from './session.ts'
import { readSettings, type Settings } from './settings.ts'

/** What a command has found or done, as far as it has not printed that itself. */
export interface Answer {
  /** What `--json` prints. */
  readonly report?: unknown
  /** The same for people. */
  readonly lines?: readonly string[]
  /** False when not all is well, or not all was done. */
  readonly isWell?: boolean
}

/** What a command works with that knows the settings. */
export interface Context extends Session, Settings {
  /** Whether `--json` was given: a program reads what is printed. */
  readonly json: boolean
}

/** Does a command's work, and notes whether all is well, or what the work throws. */
export type Run = (work: (session: Session) => Promise<boolean>) => Promise<void>

/** Adds a command to the program, or below another word. */
export type AddCommand = (parent: Command, run: Run, options?: { isDefault: boolean }) => void

/** Words with their options and `--json`, and what they do under the settings of this environment. */
export function command<Args extends unknown[], Options extends OptionValues>(
  words: Command<Args, Options>,
  work: (context: Context, ...given: [...Args, Options]) => Promise<Answer>,
): AddCommand {
  words.option('--json', 'print JSON, for programs')
  return plainCommand(words, async (session, ...given) => {
    const { json = false } = given.at(-1) as { json?: boolean }
    return work({ ...session, ...(await readSettings(session)), json }, ...given)
  })
}

/** The same of a command without `--json`, which reads the settings itself. */
export function plainCommand<Args extends unknown[], Options extends OptionValues>(
  words: Command<Args, Options>,
  work: (session: Session, ...given: [...Args, Options]) => Promise<Answer>,
): AddCommand {
  return (parent, run, how) => {
    const isUsual = how?.isDefault === true
    words.action((...all) => {
      if (isUsual && words.args.length > words.registeredArguments.length) refuse(parent)
      return run(async (session) => {
        const given = all.slice(0, -1) as [...Args, Options]
        const { json } = given.at(-1) as OptionValues
        const { report, lines = [], isWell = true } = await work(session, ...given)
        // The output may be closed: a command that says nothing does not mind.
        if (json === true && report !== undefined) await session.out.json(report)
        else if (json !== true && lines.length > 0) await session.out.lines(...lines)
        return isWell
      })
    })
    words.copyInheritedSettings(parent).allowExcessArguments(isUsual)
    if (!parent.commands.includes(words)) parent.addCommand(words, how)
  }
}

/** Commands below a word. @param usual the one that is meant when none is named, if there is one */
export function commandsBelow(
  words: Command,
  usual: AddCommand | undefined,
  ...others: readonly AddCommand[]
): AddCommand {
  return (parent, run) => {
    words.copyInheritedSettings(parent)
    if (usual) usual(words, run, { isDefault: true })
    else words.allowExcessArguments().action(() => refuse(words))
    for (const add of others) add(words, run)
    parent.addCommand(words)
  }
}

/** Refuses what is no command below these words, or stands in a wrong place. It may be an address, and is not repeated. */
function refuse(words: Command): never {
  const names = words.commands.map((it) => it.name())
  words.error(`right behind ${words.name()}, say ${names.join(', ')} or help`)
}
