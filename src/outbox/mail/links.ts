import { type Hmac, isEqual } from '../../platform/digest.ts'
import type { Language } from '../../signup/languages.ts'

/** What the link of a mail is for; the first part of its path. */
export type LinkPurpose = 'confirm' | 'leave'

/** Of the id of a message, and of the signature in base64url (132 bits). */
const partCharacters = 22

/** Makes the tokens of links, and finds the message of a token. None is stored. */
export class LinkTokens {
  readonly #sign: Hmac

  /** @param sign with a key that all instances share, and no other site */
  constructor(sign: Hmac) {
    this.#sign = sign
  }

  /** @param message the id of a message */
  make(purpose: LinkPurpose, message: string): string {
    return message + this.#signature(purpose, message)
  }

  /** The id of the message; undefined when the token was not made for this purpose with this key. */
  find(purpose: LinkPurpose, token: string): string | undefined {
    if (token.length !== 2 * partCharacters || !/^[\w-]+$/.test(token)) return undefined
    const message = token.slice(0, partCharacters)
    const isOurs = isEqual(token.slice(partCharacters), this.#signature(purpose, message))
    return isOurs ? message : undefined
  }

  #signature(purpose: LinkPurpose, message: string): string {
    return this.#sign(`${purpose} ${message}`).slice(0, partCharacters)
  }
}

/** What all links of a site's mails have in common. */
export interface LinkBase {
  readonly tokens: LinkTokens
  /** Has no slash at the end. */
  readonly publicUrl: string
  /** The name of the site; undefined when there is only one for all. */
  readonly site: string | undefined
}

/** The URL of a link of this message, which leads to a page in this language. */
export function linkOf(
  { tokens, publicUrl, site }: LinkBase,
  purpose: LinkPurpose,
  id: string,
  language: Language,
): string {
  const query = `${site === undefined ? '' : `site=${site}&`}language=${language}`
  return `${publicUrl}/${purpose}/${tokens.make(purpose, id)}?${query}`
}
