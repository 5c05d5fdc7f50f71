import type { Config } from '../config/config.ts'
import { type JournalHome, openEverySite, type OpenSites } from '../operations/journal-home.ts'
import { emailProblem, storedEmail } from '../signup/email.ts'
import { UsageError } from './session.ts'
import { chosenName } from './settings.ts'

/** What the commands about one person have in common. */

export const argumentHint =
  '\nArguments are public on a machine with several users: prefer -, as in\n' +
  '  rollcall COMMAND - < file-with-the-address\n'

const inputCharactersMax = 1_000

/** The address of an argument; of standard input when that is `-`. @throws UsageError when it is none */
export async function readAddress(given: string, stop: AbortSignal): Promise<string> {
  const address = storedEmail(given === '-' ? await readInput(stop) : given)
  if (emailProblem(address) === undefined) return address
  throw new UsageError('Give one email address, or - to read it from standard input.')
}

async function readInput(stop: AbortSignal): Promise<string> {
  let text = ''
  stop.addEventListener('abort', () => process.stdin.destroy(), { once: true })
  for await (const chunk of process.stdin.setEncoding('utf8')) {
    text += String(chunk)
    if (text.length > inputCharactersMax) break
  }
  return text
}

/** @param site the only one that is wanted; all when it is left out */
export function openSites(
  home: JournalHome,
  config: Pick<Config, 'sites'>,
  site: string | undefined,
): Promise<OpenSites> {
  return openEverySite(home, (known) => {
    return site === undefined ? known : [chosenName(config, known, site)]
  })
}
