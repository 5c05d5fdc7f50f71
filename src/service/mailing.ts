import type { Config } from '../config/config.ts'
import type { MailConfig } from '../config/mail.ts'
import { compose } from '../outbox/mail/compose.ts'
import { mailServerOf } from '../outbox/mail/connection.ts'
import { LinkTokens } from '../outbox/mail/links.ts'
import { mailConsumer } from '../outbox/mail/mail-consumer.ts'
import { reportMail } from '../outbox/mail/report.ts'
import { accentColors } from '../pages/accent.ts'
import { pageTexts } from '../pages/texts.ts'
import { hmacWith } from '../platform/digest.ts'
import type { RunningSite } from './site.ts'
import type { MessageOptions } from './site-messages.ts'
import type { World } from './world.ts'

/**
 * What sends the mails of a site. Imported only where something needs mail: the library takes a while to load.
 *
 * @param url `MAIL_URL`
 */
export function mailing(
  { hasSites }: Pick<Config, 'hasSites'>,
  { from, perHour, publicUrl, owner = '' }: MailConfig,
  url: string,
  { clock }: Pick<World, 'clock'>,
) {
  const server = mailServerOf(url)
  return ({
    name,
    page,
    mail: own,
    confirmation,
    journal,
  }: RunningSite): MessageOptions['mail'] => {
    const { title, language = 'en', accent } = page
    const colors = { light: accentColors(accent, 'light'), dark: accentColors(accent, 'dark') }
    const visitors = {
      ...{ publicUrl, title, language, own, texts: pageTexts, colors },
      tokens: new LinkTokens(hmacWith(journal.linkKey)),
      site: hasSites ? name : undefined,
      confirms: confirmation === 'mail',
    }
    return () =>
      mailConsumer({
        ...{ server, from, perHour, clock },
        compose: (message) =>
          message.kind === 'report'
            ? reportMail(message, { owner, publicUrl, colors })
            : compose(message, visitors),
      })
  }
}
