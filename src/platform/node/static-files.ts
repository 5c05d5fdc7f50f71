import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { StaticFile } from '../static-file.ts'
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

export async function staticFile(path: string, content: Uint8Array): Promise<StaticFile> {
  const [br, gzipped] = await Promise.all([
    promisify(brotliCompress)(content, {
      params: { [constants.BROTLI_PARAM_SIZE_HINT]: content.byteLength },
    }),
    promisify(gzip)(content, { level: constants.Z_BEST_COMPRESSION }),
  ])
  const file = plainFile(path, content)
  const compressed = { gzip: new Uint8Array(gzipped), br: new Uint8Array(br) }
  return { ...file, bodies: { ...file.bodies, ...compressed } }
}

/** Makes a static file without compression, for files with few readers. */
export function plainFile(path: string, content: Uint8Array): StaticFile {
  const contentType = contentTypes[extname(path)] ?? 'application/octet-stream'
  const hash = createHash('sha256').update(content).digest('base64url').slice(0, 22)
  return { path, contentType, hash, bodies: { identity: new Uint8Array(content) } }
}
