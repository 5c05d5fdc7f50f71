import { Command } from '@commander-js/extra-typings'
import {
  addressOf,
  allowMails,
  entryOf,
  keptAbout,
  nothingKept,
  unsearched,
} from '../operations/person.ts'
import { visible } from '../platform/visible.ts'
import { endpointsOf } from '../service/site.ts'
import { commandsBelow } from './command.ts'
import { aboutPerson } from './people.ts'
import { UsageError } from './session.ts'

export const addPerson = aboutPerson(
  'person',
  new Command('person').description(
    'print all that is kept about a person, for a request for access',
  ),
  'The last eight characters of the id of a signup, as a chat channel shows them, stand for its address.',
  async ({ config, secrets, address: whom, journals, searched, out, stop, json }) => {
    const address = await addressOf(whom, { journals, stop, searched })
    if (address === undefined) throw new UsageError('There is no signup whose id ends so.')
    const endpoints = new Map(config.sites.map((it) => [it.name, endpointsOf(secrets, it)]))
    const kept = keptAbout(address, { journals, endpoints, stop, searched })
    if (json) {
      await out.jsonOf({ address }, 'kept', kept)
      return {}
    }
    let isNothing = true
    for await (const one of kept) {
      isNothing = false
      const { heading, facts } = entryOf(one, config.confirmationDays)
      await out.lines(heading, ...facts.map(([name, text]) => visible(`  ${name}: ${text}`)))
    }
    return { lines: isNothing ? [nothingKept, unsearched] : [unsearched] }
  },
  true,
)

export const addMail = commandsBelow(
  new Command('mail').description('what mails may be sent'),
  undefined,
  aboutPerson(
    'mail allow',
    new Command('allow').description(
      'let mails go again to an address that declined them or left the list',
    ),
    'It signs nobody up. Do it only when the person has asked you to.',
    async ({ address, journals }) => {
      const { allowed, words } = await allowMails(address, journals)
      return { report: { allowed }, lines: [words] }
    },
  ),
)
