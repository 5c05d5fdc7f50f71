/** Why the mail server takes no mail at all, in fixed sentences, and what to do about it. */
export const mailTroubles = {
  host: [
    'The mail server is not found',
    'Check the host in MAIL_URL, and whether this machine can look names up.',
  ],
  port: [
    'The mail server refuses the connection',
    'Check the port in MAIL_URL: 465 for smtps:, 587 for smtp:. Many hosters close port 25.',
  ],
  silent: [
    'The mail server does not answer',
    'Check host and port in MAIL_URL, and whether a firewall lets this machine out to it.',
  ],
  closed: [
    'The mail server closes the connection',
    'Look into the log of the mail server. It may refuse the address of this machine.',
  ],
  noTls: [
    'The mail server offers no TLS',
    'Use smtps: with the port for TLS, often 465, or a server that offers STARTTLS.',
  ],
  certificate: [
    'The certificate of the mail server is not trusted',
    'Write the host in MAIL_URL as its certificate names it. For a certificate of your own, set NODE_EXTRA_CA_CERTS.',
  ],
  tls: [
    'TLS with the mail server fails',
    'Use smtps: only with a port that begins with TLS, often 465, and smtp: with the others, often 587.',
  ],
  login: [
    'The mail server refuses the login',
    'Check user and password in MAIL_URL. Percent-encode what is not a letter or digit. Some servers want a password for apps.',
  ],
  sender: [
    'The mail server refuses the sender',
    'Let MAIL_FROM be an address that this login may send from.',
  ],
  busy: [
    'The mail server takes no mail just now',
    'If it lasts, look into the log of the mail server, or ask whether its limit is used up.',
  ],
  protocol: ['The mail server does not speak SMTP', 'Check host and port in MAIL_URL.'],
} as const satisfies Record<string, readonly [reason: string, hint: string]>

/** What to do about a failure that was told with this reason. */
export function mailHint(reason: string): string | undefined {
  return Object.values(mailTroubles).find(([words]) => words === reason)?.[1]
}

export type MailTrouble = keyof typeof mailTroubles
