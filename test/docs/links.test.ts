import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { projectRoot } from '../../harness/source-file.ts'
import { signalPoints, suspectPoints } from '../../src/signup/suspicion.ts'

const pages = globSync(['*.md', '{docs,deploy,examples,emulators}/**/*.md'], { cwd: projectRoot })

test('every link between the pages of the documentation leads to a file, and to a heading in it', () => {
  expect(pages.length).toBeGreaterThan(20)
  const lost = pages.flatMap((page) => {
    return [...textOf(page).matchAll(/\]\(([^)\s:]+)\)/g)]
      .map(([, link = '']) => link)
      .filter((link) => !leadsSomewhere(page, link))
      .map((link) => `${page}: ${link}`)
  })
  expect(lost).toEqual([])
})

test('every file that docs/decisions/security.md names exists', () => {
  const page = textOf('docs/decisions/security.md')
  const paths = Array.from(page.matchAll(/`([\w./-]*\w\.(?:ts|js|service|yaml|json|md))`/g))
  const named = paths.map(([, path = '']) => path).filter((path) => path !== 'embed.js')
  expect(named.length).toBeGreaterThan(30)
  expect(named.filter((path) => !existsSync(join(projectRoot, path)))).toEqual([])
})

test('docs/spam.md has each sign of spam with the points that the filter gives it', () => {
  const page = textOf('docs/spam.md')
  const rows = page.matchAll(/^\| `([a-z-]+)` +\| +(\d+) \|/gm)
  const points = Array.from(rows, ([, sign, given]) => [sign, Number(given)])
  expect(Object.fromEntries(points)).toEqual(signalPoints)
  expect(page).toContain(`suspect at **${suspectPoints} points**`)
})

function leadsSomewhere(page: string, link: string): boolean {
  const [file = '', heading] = link.split('#')
  const target = file === '' ? page : relative(projectRoot, join(projectRoot, dirname(page), file))
  if (!existsSync(join(projectRoot, target))) return false
  if (heading === undefined || !target.endsWith('.md')) return true
  return [...textOf(target).matchAll(/^#+ (.+)$/gm)].some(([, it = '']) => slug(it) === heading)
}

/** What GitHub makes of a heading. */
function slug(heading: string): string {
  const text = heading.replaceAll(/\[(.+?)\]\(.+?\)/g, '$1').toLowerCase()
  return text.replaceAll(/[^\p{L}\p{N}\- _]/gu, '').replaceAll(' ', '-')
}

function textOf(page: string): string {
  return readFileSync(join(projectRoot, page), 'utf8')
}
