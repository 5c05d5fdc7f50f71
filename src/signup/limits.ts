/** Every limit on input, after cleaning and trimming, in UTF-16 units as HTML's `maxlength` counts them. */
export const limits = {
  /** RFC 5321 allows a path of 256 characters with its angle brackets. Longer addresses get no mail. */
  emailCharactersMax: 254,
  /** The part before the `@`: RFC 5321, section 4.5.3.1.1. */
  emailLocalCharactersMax: 64,
  /** The longest tab name that spreadsheet programs allow. */
  tabCharactersMax: 100,
  /** Enough for a page, a campaign or a referring URL. Longer texts make the column unreadable. */
  sourceCharactersMax: 200,
  /** Longer than any real name, and the cell stays readable. */
  nameCharactersMax: 200,
  /** Together with `tagCharactersMax`, keeps the cell under 5,100 characters. */
  tagsMax: 50,
  tagCharactersMax: 100,
  /** Top-level keys: more than any ordinary form has fields. */
  metadataKeysMax: 50,
  /** Levels of nested objects and lists. The cost of writing them out grows with the square. */
  metadataDepthMax: 100,
  /** As compact JSON. A cell of Google Sheets holds 50,000, but a full batch must stay small. */
  metadataCharactersMax: 10_000,
  /** The longest token that Turnstile documents. */
  tokenCharactersMax: 2_048,
  /** The redirect becomes a `Location` header, and proxies commonly allow 4 to 8 KB for all headers. */
  redirectCharactersMax: 2_048,
  /** Room for any UUID or hash with a prefix, and short enough for an index. */
  idempotencyKeyCharactersMax: 255,
  /** Default of `BODY_LIMIT_BYTES`, 1 MiB: a full bulk request of ordinary signups fits. */
  bodyBytesMax: 1_048_576,
  /** Default of `BULK_MAX`. So many signups are one durable write and fit into one batch. */
  bulkItemsMax: 1_000,
  /** Limits the work before any other limit can refuse the form. Empty fields and files count. */
  formFieldsMax: 1_000,
} as const
