import { codeOf } from './durable-file.ts'

const otherHost = 'Set HOST to 0.0.0.0 for every network, or to 127.0.0.1 for this machine only.'
const noSuchName = { why: 'no address is known for the name in HOST', hint: otherHost }
const notOurs = { why: 'the address in HOST does not belong to this machine', hint: otherHost }

const problems: Readonly<Record<string, { why: string; hint: string }>> = {
  ENOTFOUND: noSuchName,
  EAI_AGAIN: noSuchName,
  EADDRNOTAVAIL: notOurs,
  EAFNOSUPPORT: notOurs,
  EINVAL: notOurs,
  EADDRINUSE: {
    why: 'another program listens on it',
    hint: 'Stop that program, or set PORT to another port. PORT=0 picks a free one.',
  },
  EACCES: {
    why: 'the user that runs Rollcall has no right to this port',
    hint: 'Set PORT to 1024 or more, and let a proxy forward requests from the lower port.',
  },
}

/** The error for a failed `listen`: tells why, and which setting to change. */
export function listenFailure(host: string, port: number, cause: Error): Error {
  const code = codeOf(cause)
  const known = problems[code ?? '']
  const why = known ? `${known.why} (${code})` : cause.message
  const hint = known?.hint ?? 'Set PORT or HOST to another value.'
  return new Error(`Cannot listen on port ${port} of ${host}: ${why}. ${hint}`, { cause })
}
