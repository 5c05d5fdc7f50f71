import { join } from 'node:path'
import { LinkTokens } from '../src/outbox/mail/links.ts'
import { hmacWith } from '../src/platform/digest.ts'
import type { Signup } from '../src/signup/signup.ts'
import { makeSignup } from './make-signup.ts'
import { openPostgresJournal } from './postgres-journal.ts'
import type { TestDatabase } from './postgres-server.ts'
import { openSqliteJournal } from './sqlite-journal.ts'

const addressing = { share: 'a share', language: 'en' }
const waitMs = 7 * 24 * 60 * 60_000

/** The path of a link in a mail, and the signup that it is about. */
export interface MailLink {
  readonly path: string
  readonly token: string
  readonly signup: Signup
}

/**
 * Asks for the confirmation of a signup in a journal that a service serves, or greets it. No mail server is
 * needed: the mail counts as sent at once.
 *
 * @param journal the data folder of the service, or its database
 */
export async function mailLink(
  journal: string | Pick<TestDatabase, 'url'>,
  kind: 'confirm' | 'welcome',
  fields: Partial<Signup>,
  { site = 'default', now = Date.now() } = {},
): Promise<MailLink> {
  const policy = { confirmation: { waitMs }, welcomes: true }
  await using opened =
    typeof journal === 'string'
      ? openSqliteJournal(join(journal, 'journal.db'), policy, { site, access: 'beside' })
      : await openPostgresJournal(journal.url, policy, { site })
  const { intake, outbox, linkKey } = opened
  const signup = makeSignup({ receivedAt: now, ...fields })
  if (kind === 'confirm') await intake.ask([signup], { addressing })
  else await intake.append([signup], { greeting: addressing })
  const claim = { kinds: [kind], by: 'the test', now, max: 100 } as const
  const { messages } = await outbox.claim(claim)
  const message = messages.find(({ email }) => email === signup.email)
  if (!message) throw new Error('No mail was made.')
  await outbox.settle(message.number, { kind: 'sent', at: now })
  const tokens = new LinkTokens(hmacWith(linkKey))
  const purpose = kind === 'confirm' ? 'confirm' : 'leave'
  const token = tokens.make(purpose, message.id)
  return { path: `/${purpose}/${token}`, token, signup }
}
