import { codeOf } from './durable-file.ts'

const notOurs = {
  why: 'HOST names no address of this machine',
  hint: 'Set HOST to 0.0.0.0 for every network, or to 127.0.0.1 for this machine only.',
}

const problems: Readonly<Record<string, { why: string; hint: string }>> = {
  ENOTFOUND: notOurs,
  EAI_AGAIN: notOurs,
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
