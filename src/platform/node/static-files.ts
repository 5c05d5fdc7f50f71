import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Bytes, Coding, StaticFile } from '../static-file.ts'
import { ifExists } from './durable-file.ts'

const contentTypes: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.css': 'text/css; charset=utf-8',
}

/** Reads every JavaScript, JSON and CSS file in the folder; none when the folder is missing. */
export async function readStaticFiles(folder: string): Promise<readonly StaticFile[]> {
  const names = (await ifExists(readdir(folder, { recursive: true }))) ?? []
  const paths = names.map((name) => name.replaceAll('\\', '/')).sort()
  return Promise.all(
    paths
      .filter((path) => extname(path) in contentTypes)
      .map(async (path) => staticFile(path, await readFile(join(folder, path)))),
  )
}

const compress = {
  br: (content: Bytes) =>
    promisify(brotliCompress)(content, {
      params: { [constants.BROTLI_PARAM_SIZE_HINT]: content.byteLength },
    }),
  gzip: (content: Bytes) => promisify(gzip)(content, { level: constants.Z_BEST_COMPRESSION }),
}

/** Compressing waits for somebody who asks: of all files it takes 0.2 s, and some megabytes while it lasts. */
export function staticFile(path: string, given: Uint8Array): StaticFile {
  const content = new Uint8Array(given)
  const made = new Map<Coding, Promise<Bytes>>()
  const compressed = (coding: Coding) => {
    const known = made.get(coding) ?? compress[coding](content).then((it) => new Uint8Array(it))
    made.set(coding, known)
    return known
  }
  const contentType = contentTypes[extname(path)] ?? 'application/octet-stream'
  const hash = createHash('sha256').update(content).digest('base64url').slice(0, 22)
  return { path, contentType, hash, content, compressed }
}
