import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { english, laterEnglish } from '../../browser/texts.ts'
import { projectRoot } from '../../harness/source-file.ts'

const built = (path: string) => readFileSync(join(projectRoot, 'dist', path))
const gzipped = (path: string) => gzipSync(built(path), { level: 9 }).byteLength

const languages = readdirSync(join(projectRoot, 'browser/languages'))

/** The English texts included. */
const embedBytesMax = 5 * 1024
/** The script that embed.js loads with the first focus. */
const laterBytesMax = 5.5 * 1024
/** The script that tells the page's author of mistakes. A page without one does not load it. */
const authorBytesMax = 1024
/** The script that solves puzzles, and the one for the widgets of other providers. Most pages load neither. */
const challengeBytesMax = 4 * 1024

test('embed.js is at most 5 KB gzipped, what it loads with the first focus at most 5.5 KB, what tells of mistakes 1 KB and what is for a challenge 4 KB', () => {
  console.log(
    `embed.js: ${gzipped('embed.js')} bytes gzipped, later.js: ${gzipped('embed/later.js')}`,
  )
  expect(gzipped('embed.js')).toBeLessThanOrEqual(embedBytesMax)
  expect(gzipped('embed/later.js')).toBeLessThanOrEqual(laterBytesMax)
  expect(gzipped('embed/author.js')).toBeLessThanOrEqual(authorBytesMax)
  expect(gzipped('embed/puzzle.js')).toBeLessThanOrEqual(challengeBytesMax)
  expect(gzipped('embed/widget.js')).toBeLessThanOrEqual(challengeBytesMax)
})

test.each(['en.json', ...languages])(
  'the messages about fields in %s are at most 1 KB gzipped',
  (name) => {
    expect(gzipped(`embed/fields/${name}`.replace('.json', '.js'))).toBeLessThanOrEqual(1024)
  },
)

test('every language has every text, none of them empty, and only Arabic runs from right to left', () => {
  expect(languages).toHaveLength(13)
  const read = (name: string) =>
    JSON.parse(String(built(`embed/${name}`))) as Record<string, string>
  // A form without a heading and a line below it has none in any language.
  const needed = Object.keys({ ...english, ...laterEnglish }).filter(
    (key) => !['dir', 'title', 'text'].includes(key),
  )
  for (const name of languages) {
    const { dir, ...texts } = read(name)
    expect(Object.keys(texts).sort(), name).toEqual(needed.sort())
    expect(
      Object.values(texts).filter((text) => text.trim() === ''),
      name,
    ).toEqual([])
    expect(texts['suggestion'], name).toContain('*')
    expect(dir, name).toBe(name === 'ar.json' ? 'rtl' : undefined)
  }
})
