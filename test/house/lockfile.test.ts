import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { projectRoot } from '../../harness/source-file.ts'

interface Locked {
  readonly version?: string
  readonly integrity?: string
  readonly os?: string
  readonly cpu?: string
  readonly libc?: string
  readonly hasInstallScript?: true
  readonly inBundle?: true
}

const packages = lockedIn('package-lock.json')
const packagesOfNode = lockedIn('scripts/node/package-lock.json')
const manifest = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
  readonly allowScripts: Record<string, boolean>
}

test('every package has a checksum', () => {
  const all = [...Object.entries(packages), ...Object.entries(packagesOfNode)]
  const unchecked = all.filter(([, { integrity, inBundle }]) => {
    return !integrity?.startsWith('sha512-') && !inBundle
  })
  expect(unchecked).toEqual([])
})

// These packages do not have the field `libc` themselves, so npm drops it when it makes the file anew.
// Add it by hand, or Alpine gets a Node.js that does not run there.
test('the lockfile has one version of Node.js for every machine that it is made for', () => {
  const nodes = Object.values(packagesOfNode).map(({ version, os, cpu, libc }) => ({
    version,
    machine: [os, cpu, libc].join(' ').trim(),
  }))
  expect(nodes.map(({ machine }) => machine).sort()).toEqual([
    'darwin arm64',
    'darwin x64',
    'linux arm64 glibc',
    'linux x64 glibc',
    'win32 x64',
  ])
  expect(new Set(nodes.map(({ version }) => version)).size).toBe(1)
})

// esbuild runs without its script, which only makes its command start faster. The packages of PostgreSQL
// lack links to libraries without theirs: harness/postgres-programs.ts makes them.
test('no package runs an install script', () => {
  const withScript = Object.entries(packages).filter(([, it]) => it.hasInstallScript)
  const forbidden = Object.entries(manifest.allowScripts).filter(([, isAllowed]) => !isAllowed)
  expect(withScript.map(([path]) => path.replace('node_modules/', ''))).toEqual(
    forbidden.map(([name]) => name).sort(),
  )
})

/** The entries of a lockfile but for our own. */
function lockedIn(path: string): Record<string, Locked> {
  const { packages: all } = JSON.parse(readFileSync(join(projectRoot, path), 'utf8')) as {
    readonly packages: Record<string, Locked>
  }
  const { '': _, ...others } = all
  return others
}
