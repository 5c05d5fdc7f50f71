/** Providers that document that a name is one mailbox at these domains, and what they ignore in it. */
const providers: readonly { readonly domains: readonly string[]; readonly ignored?: RegExp }[] = [
  { domains: ['gmail.com', 'googlemail.com'], ignored: /\./g },
  { domains: ['proton.me', 'protonmail.com', 'protonmail.ch', 'pm.me'], ignored: /[._-]/g },
  { domains: ['icloud.com', 'me.com', 'mac.com'] },
  { domains: ['yandex.ru', 'yandex.com', 'yandex.by', 'yandex.kz', 'yandex.ua', 'ya.ru'] },
]
const providerOf = new Map(
  providers.flatMap((provider) => provider.domains.map((domain) => [domain, provider])),
)

/** Domains of Fastmail, at which mail to anything@name.domain is for name@domain. */
const domainsWithNames: ReadonlySet<string> = new Set(
  `123mail.org 150mail.com 150ml.com 16mail.com 2-mail.com 4email.net 50mail.com airpost.net allmail.net
  bestmail.us cluemail.com elitemail.org emailcorner.net emailengine.net emailengine.org emailgroups.net
  emailplus.org emailuser.net eml.cc f-m.fm fast-email.com fast-mail.org fastem.com fastemail.us
  fastemailer.com fastest.cc fastimap.com fastmail.ca fastmail.cn fastmail.co.uk fastmail.com
  fastmail.com.au fastmail.de fastmail.es fastmail.fm fastmail.fr fastmail.im fastmail.in fastmail.jp
  fastmail.mx fastmail.net fastmail.nl fastmail.org fastmail.se fastmail.to fastmail.tw fastmail.uk
  fastmail.us fastmailbox.net fastmessaging.com fea.st fmail.co.uk fmailbox.com fmgirl.com fmguy.com
  ftml.net h-mail.us hailmail.net imap-mail.com imap.cc imapmail.org inoutbox.com internet-e-mail.com
  internet-mail.org internetemails.net internetmailing.net jetemail.net justemail.net letterboxes.org
  mail-central.com mail-page.com mailandftp.com mailas.com mailbolt.com mailc.net mailcan.com
  mailforce.net mailftp.com mailhaven.com mailingaddress.org mailite.com mailmight.com mailnew.com
  mailsent.net mailservice.ms mailup.net mailworks.org ml1.net mm.st myfastmail.com mymacmail.com
  nospammail.net ownmail.net petml.com postinbox.com postpro.net proinbox.com promessage.com
  realemail.net reallyfast.biz reallyfast.info rushpost.com sent.as sent.at sent.com speedpost.net
  speedymail.org ssl-mail.com swift-mail.com the-fastest.net the-quickest.com theinternetemail.com
  veryfast.biz veryspeedy.net warpmail.net xsmail.com yepmail.net your-mail.com`.split(/\s+/),
)

/** Enough of an address for its person to know it: `a…@example.com`. */
export function shortAddress(address: string): string {
  const [first = ''] = address
  return `${first}…${address.slice(address.lastIndexOf('@'))}`
}

/**
 * One spelling, in lower case, for all addresses that may reach one mailbox. What follows a plus sign counts
 * nowhere. Only what protects a mailbox from mails may use it: a person is the address as it was typed.
 */
export function mailboxOf(address: string): string {
  const lower = address.toLowerCase()
  const at = lower.lastIndexOf('@')
  const given = lower.slice(at + 1)
  const parent = given.slice(given.indexOf('.') + 1)
  if (domainsWithNames.has(parent)) return `${given.slice(0, -parent.length - 1)}@${parent}`
  const { domains: [domain] = [given], ignored } = providerOf.get(given) ?? {}
  const plus = lower.indexOf('+')
  const name = lower.slice(0, plus > 0 && plus < at ? plus : at)
  return `${ignored ? name.replaceAll(ignored, '') : name}@${domain}`
}
