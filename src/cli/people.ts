import type { Command, OptionValues } from '@commander-js/extra-typings'
import { openPresent } from '../operations/journal-home.ts'
import type { Journal } from '../journal/contracts/journal.ts'
import { rollcall } from '../platform/command-words.ts'
import { emailProblem, storedEmail } from '../signup/email.ts'
import { isIdEnd } from '../signup/id.ts'
import { type AddCommand, type Answer, command, type Context } from './command.ts'
import { type Session, UsageError } from './session.ts'
import { chosenSite } from './settings.ts'

/** Whom a command is about, and where to look. */
interface About {
  readonly address: string
  /** The sites that are meant, by name. */
  readonly journals: ReadonlyMap<string, Journal>
  /** Shows how far the search has come. */
  readonly searched: (done: number) => void
}

const inputCharactersMax = 1_000

/**
 * A command about one person.
 *
 * @param options.name all its words
 * @param options.more what else its help says
 * @param options.takesIdEnd whether the address may be the end of an id, which the work looks up
 */
export function aboutPerson<Options extends OptionValues>(
  words: Command<[], Options>,
  { name, more, takesIdEnd = false }: { name: string; more: string; takesIdEnd?: boolean },
  work: (context: Context & About, options: Options) => Promise<Answer>,
): AddCommand {
  const hint = `
Arguments are public on a machine with several users: prefer -, as in
  ${rollcall(name)} - < file-with-the-address
${more}`
  words
    .option('--site <name>', 'only at this site; otherwise at all, in the settings or not')
    .addHelpText('after', hint)
  const whole = words.argument(
    '<address>',
    'the email address, or - to read it from standard input',
  )
  return command(whole, async (context, given, options) => {
    const address = await readAddress(given, context, takesIdEnd)
    const { site } = options as { readonly site?: string }
    await using opened = await openPresent(context.home)
    const known = Array.from(opened.sites, ([name, journal]) => ({ name, journal }))
    const chosen = site === undefined ? known : [chosenSite(known, site)]
    const journals = new Map(chosen.map((it) => [it.name, it.journal]))
    using progress = context.notes.progress('signups searched')
    return await work(
      { ...context, address, journals, searched: (done) => progress.at(done) },
      options,
    )
  })
}

/** The address of an argument; of standard input when that is `-`. @throws UsageError when it is none */
async function readAddress(given: string, session: Session, takesIdEnd: boolean): Promise<string> {
  const address = storedEmail(given === '-' ? await readInput(session) : given)
  if (emailProblem(address) === undefined || (takesIdEnd && isIdEnd(address))) return address
  throw new UsageError('Give one email address, or - to read it from standard input.')
}

async function readInput({ stdin, stop }: Session): Promise<string> {
  let text = ''
  stop.addEventListener('abort', () => stdin.destroy(), { once: true })
  for await (const chunk of stdin.setEncoding('utf8')) {
    text += String(chunk)
    if (text.length > inputCharactersMax) break
  }
  return text
}
