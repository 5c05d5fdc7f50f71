/**
 * `npm run package`: builds the npm package into package/, and packs it into a file. Node does not run
 * TypeScript below node_modules/, so the package has JavaScript.
 *
 * usage: node scripts/package.ts [--to FOLDER]
 */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, glob, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { projectRoot } from '../harness/source-file.ts'

const folder = join(projectRoot, 'package')
const { values } = parseArgs({ options: { to: { type: 'string', default: projectRoot } } })
const tsc = join(projectRoot, 'node_modules/typescript/bin/tsc')

await rm(folder, { recursive: true, force: true })
for (const project of ['tsconfig.package.json', 'tsconfig.client.json']) {
  const args = [tsc, '-p', join(projectRoot, 'scripts', project)]
  execFileSync(process.execPath, args, { stdio: 'inherit' })
}
const copies = [
  ...['README.md', 'CHANGELOG.md', 'SECURITY.md', 'LICENSE', '.env.example', 'config.schema.json'],
  ...['dist', 'docs', 'examples'],
]
/**
 * What only a clone needs. The registry's page takes pictures from the repository, the files of compose build from a
 * clone, and the decisions are for those who change the code.
 */
const leftOut = ['docs/pictures', 'docs/decisions', 'examples/compose'].map((path) =>
  join(projectRoot, path),
)
for (const path of copies) {
  await cp(join(projectRoot, path), join(folder, path), {
    recursive: true,
    filter: (from) => !leftOut.includes(from),
  })
}
for await (const path of glob('{*,docs/**/*,examples/**/*}.md', { cwd: folder })) {
  await unlinkMissing(join(folder, path))
}
await writeFile(join(folder, 'package.json'), `${JSON.stringify(await manifest(), null, 2)}\n`)

const npm = ['pack', folder, '--pack-destination', values.to, '--json', '--ignore-scripts']
const [packed] = JSON.parse(execFileSync('npm', npm, { encoding: 'utf8' })) as [Packed]
const { filename, size, unpackedSize, entryCount } = packed
process.stdout.write(
  `${basename(filename)}: ${size} bytes, ${unpackedSize} unpacked, ${entryCount} files\n`,
)

interface Packed {
  readonly filename: string
  readonly size: number
  readonly unpackedSize: number
  readonly entryCount: number
}

/** Leaves only the words of each link to a file that the package does not have. */
async function unlinkMissing(page: string): Promise<void> {
  const text = await readFile(page, 'utf8')
  const linked = text.replaceAll(
    /(?<!!)\[([^\]]+)\]\(([^\s()#]+)[^\s()]*\)/g,
    (link, words: string, path: string) =>
      /^\w+:/.test(path) || existsSync(join(dirname(page), path)) ? link : words,
  )
  await writeFile(page, linked)
}

/** The package's own package.json. Its browser files are built already, so it needs no esbuild. */
async function manifest(): Promise<object> {
  const text = await readFile(join(projectRoot, 'package.json'), 'utf8')
  const { name, version, description, license, type, engines, dependencies } = JSON.parse(
    text,
  ) as Record<string, string> & { dependencies: Record<string, string> }
  const { esbuild: _, ...needed } = dependencies
  return {
    ...{ name, version, description, license, type, engines },
    keywords: ['email', 'signup', 'waitlist', 'newsletter', 'form', 'google-sheets', 'self-hosted'],
    bin: { rollcall: './src/start.js' },
    exports: {
      './client': { types: './src/client/client.d.ts', default: './src/client/client.js' },
      './package.json': './package.json',
    },
    sideEffects: false,
    ...repository(),
    dependencies: needed,
  }
}

/** Where a public host builds the package. Its registry compares that with the provenance. */
function repository(): object {
  const { GITHUB_SERVER_URL: host, GITHUB_REPOSITORY: path } = process.env
  return host === undefined || path === undefined
    ? {}
    : { repository: { type: 'git', url: `git+${host}/${path}.git` } }
}
