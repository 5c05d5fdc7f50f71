import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { staticFile } from './static-files.ts'

test('a file is compressed once, at its first use, and its content comes out again', async () => {
  const content = new TextEncoder().encode('a form, and a form, and a form'.repeat(50))
  const { compressed } = staticFile('form.js', content)
  const [br, gzip] = [await compressed('br'), await compressed('gzip')]
  expect(new Uint8Array(brotliDecompressSync(br))).toEqual(content)
  expect(new Uint8Array(gunzipSync(gzip))).toEqual(content)
  expect([await compressed('br'), await compressed('gzip')]).toEqual([br, gzip])
  expect(await compressed('br')).toBe(br)
  expect(br.byteLength).toBeLessThan(content.byteLength / 10)
})
