/**
 * A host, with its port if any, as browsers write it: lower case, ASCII, without the default port of
 * http or https. Undefined when the text is not a host.
 */
export function webHost(text: string): string | undefined {
  if (!/^[^/?#@\\\s;]+$/.test(text)) return undefined
  return URL.parse(`http://${text}`)?.host.replace(/:443$/, '')
}

/** Whether the host of a URL is this machine, by its name or its address. */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[?::1\]?)$/.test(hostname)
}
