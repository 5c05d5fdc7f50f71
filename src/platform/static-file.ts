export interface FileBodies {
  readonly identity: Uint8Array<ArrayBuffer>
  readonly gzip?: Uint8Array<ArrayBuffer>
  readonly br?: Uint8Array<ArrayBuffer>
}

/** A file as it is sent: read, hashed and compressed once. */
export interface StaticFile {
  /** From the folder, with forward slashes and none in front. */
  readonly path: string
  readonly contentType: string
  /** Of its content. */
  readonly hash: string
  readonly bodies: FileBodies
}
