/**
 * Every limit on what comes in. Characters are UTF-16 units, as JavaScript and HTML's `maxlength`
 * count them, after cleaning and trimming.
 */
export const limits = {
  /** RFC 5321 allows a path of 256 with its angle brackets: no longer address can receive mail. */
  emailCharactersMax: 254,
  /** The part before the `@`: RFC 5321, section 4.5.3.1.1. */
  emailLocalCharactersMax: 64,
  /** What spreadsheet programs allow for the name of a tab. */
  tabCharactersMax: 100,
  /** A page, a campaign or a referring URL; longer ones make the column unreadable. */
  sourceCharactersMax: 200,
  /** Longer than any name in an ordinary form; the cell stays readable. */
  nameCharactersMax: 200,
  /** With `tagCharactersMax` the cell stays under 5,100 characters. */
  tagsMax: 50,
  tagCharactersMax: 100,
  /** Top-level keys: more than any ordinary form has fields. */
  metadataKeysMax: 50,
  /** Objects and lists inside of one another. Writing them out takes the square of it. */
  metadataDepthMax: 100,
  /** As compact JSON. A cell of Google Sheets holds 50,000; a full batch must stay small. */
  metadataCharactersMax: 10_000,
  /** The longest token that Turnstile documents. */
  tokenCharactersMax: 2_048,
  /** It becomes a `Location` header: proxies commonly hold 4 to 8 KB for all of them together. */
  redirectCharactersMax: 2_048,
  /** Room for any UUID or hash with a prefix, and short enough for an index. */
  idempotencyKeyCharactersMax: 255,
  /** Default of `BODY_LIMIT_BYTES`, 1 MiB: a full bulk request of ordinary signups fits. */
  bodyBytesMax: 1_048_576,
  /** Default of `BULK_MAX`: one durable write, and well within one batch to the spreadsheet. */
  bulkItemsMax: 1_000,
  /** Each costs work before any other limit can refuse it. Empty fields and files count. */
  formFieldsMax: 1_000,
} as const
