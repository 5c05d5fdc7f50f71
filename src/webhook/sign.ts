/**
 * Signs a message after Standard Webhooks: the value of the header `webhook-signature`.
 *
 * @param key 24 to 64 bytes
 * @param seconds of this try, since the Unix epoch
 */
export async function signatureOf(
  key: Uint8Array<ArrayBuffer>,
  id: string,
  seconds: number,
  body: string,
): Promise<string> {
  const hmac = { name: 'HMAC', hash: 'SHA-256' }
  const imported = await crypto.subtle.importKey('raw', key, hmac, false, ['sign'])
  const content = new TextEncoder().encode(`${id}.${seconds}.${body}`)
  const signature = new Uint8Array(await crypto.subtle.sign(hmac, imported, content))
  return `v1,${btoa(String.fromCharCode(...signature))}`
}
