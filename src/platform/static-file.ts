export type Bytes = Uint8Array<ArrayBuffer>

/** A content coding of HTTP. */
export type Coding = 'br' | 'gzip'

/** A file ready to be sent. It is read and hashed once. */
export interface StaticFile {
  /** The path inside its folder, with forward slashes and no leading slash. */
  readonly path: string
  readonly contentType: string
  readonly hash: string
  readonly content: Bytes
  /** The content in this coding. It is made at its first use, and kept. */
  readonly compressed: (coding: Coding) => Promise<Bytes>
}
