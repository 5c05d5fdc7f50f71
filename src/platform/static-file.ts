export interface FileBodies {
  readonly identity: Uint8Array<ArrayBuffer>
  readonly gzip?: Uint8Array<ArrayBuffer>
  readonly br?: Uint8Array<ArrayBuffer>
}

/** A file ready to be sent. It is read, hashed and compressed once. */
export interface StaticFile {
  /** The path inside its folder, with forward slashes and no leading slash. */
  readonly path: string
  readonly contentType: string
  readonly hash: string
  readonly bodies: FileBodies
}
