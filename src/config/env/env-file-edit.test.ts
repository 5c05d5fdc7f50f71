import fc from 'fast-check'
import { expect, test } from 'vitest'
import { editEnvFile } from './env-file-edit.ts'
import { parseEnvFile } from './env-file.ts'

const key = '-----BEGIN PRIVATE KEY-----\nabc\ndef\n-----END PRIVATE KEY-----\n'

test('a value takes the place of the old one, and everything else stays', () => {
  const text = '# Mine\nPORT=3000 # free\nSHEETS_PRIVATE_KEY="a\nb"\n\nexport HOST=::1\nPORT=3001\n'
  const changes = new Map([
    ['PORT', '80'],
    ['SHEETS_PRIVATE_KEY', key],
    ['ALLOWED_ORIGINS', 'https://example.com'],
  ])
  expect(editEnvFile(text, changes)).toBe(
    '# Mine\nPORT=80\n' +
      'SHEETS_PRIVATE_KEY="-----BEGIN PRIVATE KEY-----\\nabc\\ndef\\n-----END PRIVATE KEY-----\\n"\n' +
      '\nexport HOST=::1\nALLOWED_ORIGINS=https://example.com\n',
  )
})

test('a setting is removed with all its lines', () => {
  const text = 'A=1\r\nSHEETS_PRIVATE_KEY="a\r\nb"\r\nB=2'
  expect(editEnvFile(text, new Map([['SHEETS_PRIVATE_KEY', undefined]]))).toBe('A=1\r\nB=2\r\n')
})

test('a value that no quotes can hold is refused', () => {
  expect(() => editEnvFile('', new Map([['A', `#"'\``]]))).toThrow('quotes of every kind')
})

test('any value is read as it was written, or refused', () => {
  const value = fc.string({ unit: 'grapheme-ascii' }).map((text) => text.trim())
  fc.assert(
    fc.property(value, value, (before, after) => {
      const texts = [before, after].map((text) => {
        try {
          return editEnvFile('A=1\nB=2\n', new Map([['A', text]]))
        } catch {
          return undefined
        }
      })
      const [first, second] = texts
      if (first === undefined || second === undefined) return
      expect(parseEnvFile(first).variables).toEqual({ A: before, B: '2' })
      expect(editEnvFile(first, new Map([['A', after]]))).toBe(second)
    }),
  )
})
