import { Command } from '@commander-js/extra-typings'
import {
  addressesOf,
  allowMails,
  entryOf,
  keptAbout,
  nothingKept,
  severalEndSo,
  unsearched,
} from '../operations/person.ts'
import { visible } from '../platform/visible.ts'
import { endpointsOf } from '../service/site.ts'
import { commandsBelow } from './command.ts'
import { aboutPerson } from './people.ts'
import { UsageError } from './session.ts'

export const addPerson = aboutPerson(
  new Command('person').description(
    'print all that is kept about a person, for a request for access',
  ),
  {
    name: 'person',
    more: 'The last eight characters of the id of a signup, as a chat channel shows them, stand for its address.',
    takesIdEnd: true,
  },
  async ({ config, secrets, address: whom, journals, searched, out, stop, json }) => {
    const [address, another] = await addressesOf(whom, { journals, stop, searched })
    if (address === undefined) throw new UsageError('There is no signup whose id ends so.')
    if (another !== undefined) throw new UsageError(severalEndSo)
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
)

export const addMail = commandsBelow(
  new Command('mail').description('what mails may be sent'),
  undefined,
  aboutPerson(
    new Command('allow').description(
      'let mails go again to an address that declined them or left the list',
    ),
    {
      name: 'mail allow',
      more: 'It signs nobody up. Do it only when the person has asked you to.',
    },
    async ({ address, journals }) => {
      const { allowed, words } = await allowMails(address, journals)
      return { report: { allowed }, lines: [words] }
    },
  ),
)
