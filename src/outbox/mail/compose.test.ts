import { simpleParser } from 'mailparser'
import nodemailer from 'nodemailer'
import { expect, test } from 'vitest'
import type { Message } from '../../journal/contracts/outbox.ts'
import { accentColors } from '../../pages/accent.ts'
import { pageTexts } from '../../pages/texts.ts'
import { hmacWith } from '../../platform/digest.ts'
import { type Language, languages } from '../../signup/languages.ts'
import { compose, type ComposeOptions } from './compose.ts'
import { linkOf, LinkTokens } from './links.ts'

const id = 'A_bcdefghijklmnop-1234'
const tokens = new LinkTokens(hmacWith(Buffer.from('the key of this site')))
const options: ComposeOptions = {
  tokens,
  publicUrl: 'https://signup.example.org:8443/letters',
  site: undefined,
  title: undefined,
  language: 'en',
  own: {},
  confirms: false,
  texts: pageTexts,
  colors: { light: accentColors('#ffd000', 'light'), dark: accentColors('#ffd000', 'dark') },
}
const message: Message = {
  ...{ number: 1, id, kind: 'confirm', email: 'ada@example.com', language: 'en', body: '' },
  ...{ madeAt: 0, tries: 0, isListed: false, isUnwanted: false },
  linkUntil: Date.UTC(2026, 10, 27, 22),
}
const made = (of: Partial<Message>, with_: Partial<ComposeOptions> = {}) =>
  compose({ ...message, ...of }, { ...options, ...with_ })
const confirmLink = linkOf(options, 'confirm', id, 'en')
const leaveLink = linkOf(options, 'leave', id, 'en')
const linksIn = (text: string) =>
  text.match(/https?:[^\s"<>]+/g)?.map((it) => it.replaceAll('&amp;', '&'))

test('the confirmation goes to the address, and has its link and nothing else to follow or to load', () => {
  const mail = made({})
  expect(mail).toMatchObject({
    to: 'ada@example.com',
    subject: 'signup.example.org: Please confirm your signup',
    messageId: `${id}@signup.example.org`,
    headers: {},
  })
  expect(mail.text).toBe(
    [
      'signup.example.org',
      'Please confirm your signup',
      'Please confirm that you want to be on the list “signup.example.org”.',
      `Yes, sign me up:\n${confirmLink}`,
      'The link works until November 27, 2026 at 10:00 PM UTC.',
      'Somebody signed up with this address. Was that not you? Then ignore this mail.\n',
    ].join('\n\n'),
  )
  expect(linksIn(mail.html)).toEqual([confirmLink])
  expect(mail.html).toMatch(/<a\s+class="button"/)
  expect(mail.html).not.toMatch(/<img|<script|<link|src=|url\(|@import/)
})

test('somebody who is on the list already is told so in the confirmation only', () => {
  const listed = 'This address is on the list already.'
  expect(made({ isListed: true }).text).toContain(listed)
  expect(made({ isListed: true }).html).toContain(listed)
  expect(made({ kind: 'welcome', isListed: true }).text).not.toContain(listed)
})

test('the welcome has the link to leave, and the pair of headers for one click', () => {
  const mail = made({ kind: 'welcome' })
  expect(mail.headers).toEqual({
    'List-Unsubscribe': `<${leaveLink}>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  })
  expect(mail.subject).toBe('signup.example.org: Thank you')
  expect(mail.text).toContain(
    'You are on the list now.\n\nSomebody signed up with this address. Was that not you? ' +
      `Then leave the list.\n\nLeave the list:\n${leaveLink}\n`,
  )
  expect(linksIn(mail.html)).toEqual([leaveLink])
  const confirmed = made({ kind: 'welcome' }, { confirms: true })
  expect(confirmed.text).toContain(`on the list now.\n\nLeave the list:\n${leaveLink}\n`)
  for (const text of [confirmed.text, confirmed.html]) expect(text).not.toContain('not you')
})

test.each(languages)(
  'in %s, a mail program finds all texts, and one link to leave by one click',
  async (language) => {
    const publicUrl = `https://${'long.'.repeat(20)}example.org/${'x'.repeat(300)}`
    const mail = made({ kind: 'welcome', language }, { publicUrl })
    const transport = nodemailer.createTransport({ streamTransport: true, buffer: true })
    const headers = Object.entries(mail.headers).map(([key, value]) => ({
      key,
      // In one line: a fold behind the colon would be legal, but not all readers expect one.
      value: { prepared: true, foldLines: false, value } as unknown as string,
    }))
    const sent = await transport.sendMail({ ...mail, from: 'hello@example.org', headers })
    const raw = sent.message as Buffer
    const link = linkOf({ ...options, publicUrl }, 'leave', id, language)
    expect(raw.toString()).toMatch(/^List-Unsubscribe: <https:[^\s>]+>$/m)
    expect(
      Math.max(
        ...raw
          .toString()
          .split('\n')
          .map((it) => it.length),
      ),
    ).toBeLessThan(998)
    const read = await simpleParser(raw)
    expect(read.headers.get('list')).toEqual({
      unsubscribe: { url: link },
      'unsubscribe-post': { name: 'List-Unsubscribe=One-Click' },
    })
    expect([read.subject, read.text, read.html]).toEqual([mail.subject, mail.text, mail.html])
  },
)

test('the link of a named site has its name', () => {
  const link = linkOf({ ...options, site: 'launch' }, 'confirm', id, 'en')
  expect(made({}, { site: 'launch' }).text).toContain(`:\n${link}\n`)
  expect(link).toMatch(/\?site=launch&language=en$/)
})

test.each(languages)(
  'in %s both mails and their links are in that language, and Arabic from right to left',
  (language) => {
    for (const kind of ['confirm', 'welcome'] as const) {
      const { subject, text, html } = made({ kind, language })
      const { mail, thanks } = pageTexts[language]
      expect(subject).toBe(`signup.example.org: ${kind === 'confirm' ? mail.title : thanks.title}`)
      const lines =
        kind === 'confirm'
          ? [mail.title, `${mail.yes}:`, mail.text]
          : [thanks.title, mail.onText, mail.leaveText, `${mail.leave}:`]
      for (const line of lines) expect(text.split('\n')).toContain(line)
      expect(linksIn(text)?.[0]).toMatch(new RegExp(`\\?language=${language}$`))
      expect(html).toContain(`<html lang="${language}" dir="${language === 'ar' ? 'rtl' : 'ltr'}">`)
    }
  },
)

test.each(['', 'xx', 'constructor'])(
  'a visitor of the language %j gets that of the site',
  (language) => {
    expect(made({ language }, { language: 'de' }).subject).toContain('Bitte bestätigen')
  },
)

test('the texts of the site are in the place of ours, and what to do who did not ask follows them', () => {
  const own = {
    subject: { de: 'Bitte ja', fr: 'Oui ?' },
    text: { fr: 'Un.\n\nDeux,\ntrois.', de: 'Eins.' },
    welcome: { text: 'Hello <b>you</b> & bye.' },
  }
  const title = 'Tea & "biscuits"'
  const french = made({ language: 'fr', isListed: true }, { own, title, language: 'de' })
  expect(french.subject).toBe('Oui ?')
  const { mail } = pageTexts.fr
  expect(french.text).toMatch(`${title}\n\nOui ?\n\nUn.\n\nDeux,\ntrois.\n\n${mail.listedText}`)
  expect(french.text).toMatch(new RegExp(`\n\n${mail.text.replace('?', '\\?')}\n$`))
  expect(french.html).toContain('<bdi lang="de">Tea &amp; &quot;biscuits&quot;</bdi>')
  expect(french.html).toContain('<bdi lang="fr">Deux,<br />trois.</bdi>')
  const welcome = made({ kind: 'welcome' }, { own, title })
  expect(welcome.subject).toBe('Tea & "biscuits": Thank you')
  expect(welcome.html).toContain('Hello &lt;b&gt;you&lt;/b&gt; &amp; bye.')
  expect(welcome.text).toContain(`\n\n${pageTexts.en.mail.leaveText}\n\n`)
})

test.each([
  ['ar', { subject: 'Join us', text: 'News.' }, 'en'],
  ['ar', { text: { de: 'Neues.', fr: 'Du nouveau.' } }, 'de'],
  ['fr', { subject: { de: 'Ja', en: 'Yes' }, text: { fr: 'Du nouveau.', en: 'News.' } }, 'en'],
  ['fr', { text: { de: 'Neues.', fr: 'Du nouveau.' } }, 'fr'],
  ['fr', { subject: { de: 'Ja' }, text: { fr: 'Du nouveau.' } }, 'de'],
  ['ar', {}, 'ar'],
] as const)(
  'a mail for somebody who reads %s, with texts of the site in %j, is in %s as a whole, and so is its page',
  (language, own, expected: Language) => {
    const { text, html } = made({ language }, { own })
    expect(text.split('\n')).toContain(pageTexts[expected].mail.text)
    expect(html).toContain(`<html lang="${expected}"`)
    expect(linksIn(text)?.[0]).toMatch(new RegExp(`language=${expected}$`))
  },
)

test('no word of a visitor is in a mail', () => {
  const mail = made({ body: 'Win money', isListed: true })
  const { to, ...rest } = mail
  expect(to).toBe('ada@example.com')
  expect(JSON.stringify(rest)).not.toMatch(/Win money|ada/)
})
