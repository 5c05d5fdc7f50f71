/**
 * Returns the SHA-256 of a text in UTF-8, as base64. It is passed in, because the web has only an
 * asynchronous one, which uses another thread even for a short text and takes 25 times as long.
 */
export type Digest = (text: string) => string

/** Returns the HMAC-SHA-256 of a text in UTF-8 with one key, as base64url. Passed in for the same reason. */
export type Hmac = (text: string) => string
