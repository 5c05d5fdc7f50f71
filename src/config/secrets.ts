/** What must never be printed. Everything else about the settings is in `Config`. */
export interface Secrets {
  /**
   * Private key of the service account (PKCS#8, PEM). There exactly when the spreadsheet is
   * Google's.
   */
  readonly privateKey?: string
  /** There exactly when the challenge is on. */
  readonly challengeSecret?: string
  /** Of those who may send bulk signups; empty: everybody may. */
  readonly apiKeys: readonly string[]
}
