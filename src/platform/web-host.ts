/**
 * A host with or without a port as browsers write it: lower case, ASCII, and without the port that
 * http or https has anyway. Undefined when it is none.
 */
export function webHost(text: string): string | undefined {
  if (!/^[^/?#@\\\s]+$/.test(text)) return undefined
  return URL.parse(`http://${text}`)?.host.replace(/:443$/, '')
}
