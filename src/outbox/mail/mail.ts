/** A mail to one address, as the server gets it. No text in it is a visitor's. */
export interface Mail {
  /** A checked ASCII address, in the envelope and in the header. */
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
  /** Of the message, the same in all tries. Without angle brackets. */
  readonly messageId: string
  /** `List-Unsubscribe` and its pair, where the reader can leave by one click. */
  readonly headers: Readonly<Record<string, string>>
}
