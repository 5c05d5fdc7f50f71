import type { Config } from '../config/config.ts'
import type { MailConfig } from '../config/mail.ts'
import { compose } from '../outbox/mail/compose.ts'
import { mailServerOf } from '../outbox/mail/connection.ts'
import { LinkTokens } from '../outbox/mail/links.ts'
import { mailConsumer } from '../outbox/mail/mail-consumer.ts'
import { reportMail } from '../outbox/mail/report.ts'
import { pageTexts } from '../pages/texts.ts'
import type { RunningSite } from './running-site.ts'
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
  { clock, hmacWith }: Pick<World, 'clock' | 'hmacWith'>,
) {
  const server = mailServerOf(url)
  return ({ config: site, journal }: RunningSite): MessageOptions['mail'] => {
    const { title, language = 'en' } = site.page
    const visitors = {
      ...{ publicUrl, title, language, own: site.mail, texts: pageTexts },
      tokens: new LinkTokens(hmacWith(journal.linkKey)),
      site: hasSites ? site.name : undefined,
    }
    return () =>
      mailConsumer({
        ...{ server, from, perHour, clock },
        compose: (message) =>
          message.kind === 'report'
            ? reportMail(message, { owner, publicUrl })
            : compose(message, visitors),
      })
  }
}
