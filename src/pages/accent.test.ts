import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { accentColors, accentStyles, contrast, parse, surfaces } from './accent.ts'

const contrastRatio = (one: string, other: string) => contrast(parse(one), parse(other))

test.each([
  ['#000000', '#ffffff', 21],
  ['#ffffff', '#ffffff', 1],
  ['#767676', '#ffffff', 4.54],
])('the contrast of %s and %s is %d', (one, other, ratio) => {
  expect(contrastRatio(one, other)).toBeCloseTo(ratio, 1)
})

test.each([
  // A strong colour stays what it is on a light card, with white on it.
  ['#0a7a4b', 'light', { accent: '#0a7a4b', onAccent: '#ffffff', line: '#0a7a4b' }],
  // A light one has black on it, and an edge that can be seen.
  ['#ffd000', 'light', { accent: '#ffd000', onAccent: '#000000' }],
  ['#ffd000', 'dark', { accent: '#ffd000', onAccent: '#000000', line: '#ffd000' }],
] as const)('the accent %s on a %s card', (accent, theme, expected) => {
  expect(accentColors(accent, theme)).toMatchObject(expected)
})

test('with any accent, all texts can be read in both themes', () => {
  const color = fc.integer({ min: 0, max: 0xffffff }).map((it) => it.toString(16).padStart(6, '0'))
  fc.assert(
    fc.property(color, fc.constantFrom('light', 'dark'), (digits, theme) => {
      const { accent, shade, onAccent, line } = accentColors(`#${digits}`, theme)
      expect(contrastRatio(accent, onAccent)).toBeGreaterThanOrEqual(4.5)
      // So the text of the button is even easier to read under the pointer.
      expect(contrastRatio(shade, onAccent)).toBe(21)
      expect(contrastRatio(line, surfaces[theme])).toBeGreaterThanOrEqual(4.5)
    }),
    { numRuns: 2_000 },
  )
})

test('the stylesheet has the surfaces and the colours that the accent relies on', () => {
  const styles = readFileSync(new URL('../../browser/form.css', import.meta.url), 'utf8')
  const surface = `light-dark(${surfaces.light}, ${surfaces.dark})`
  expect(styles).toContain(`--surface: var(--rollcall-background, ${surface})`)
  const replaced = [...accentStyles('#0a7a4b').matchAll(/--[\w-]+(?=:)/g)].map(([name]) => name)
  expect(replaced).toHaveLength(4)
  for (const name of replaced) expect(styles).toContain(`  ${name}: `)
  // Mails have no stylesheet of ours.
  const [light, dark] = [accentColors(undefined, 'light'), accentColors(undefined, 'dark')]
  expect(styles).toContain(`--rollcall-accent, light-dark(${light.line}, ${dark.line})`)
  expect(styles).toContain(`light-dark(${light.onAccent}, ${dark.onAccent})`)
})
