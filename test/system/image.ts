import { execFile, spawn } from 'node:child_process'
import { cp, mkdir, readFile } from 'node:fs/promises'
import { basename, dirname, join, matchesGlob, relative } from 'node:path'
import { promisify } from 'node:util'
import { endWithUs } from '../../harness/end-with-us.ts'
import { projectRoot } from '../../harness/source-file.ts'
import { path } from './program.ts'

/** An image as far as a machine without Docker has one: the folders that the Dockerfile makes, and how it starts. */
export interface Image {
  /** Holds the image's folders, such as `app`. The volume's folder, `data`, is there as well. */
  readonly root: string
  readonly environment: Readonly<Record<string, string>>
  readonly user: string
  readonly workingFolder: string
  readonly entrypoint: readonly string[]
  readonly healthcheck: readonly string[]
}

/** The folders of the image that are not those of the machine below it. */
const own = ['app', 'data']
const nodeFolder = dirname(process.execPath)

/**
 * Carries out the Dockerfile: each `RUN` in a root of its own, which has the folders of this machine in
 * place of those of the base image, and the Node.js that runs us. Needs root.
 *
 * @param folder where the image is to be
 * @throws Error for an instruction that is not known here, and when a `RUN` fails
 */
export async function buildImage(folder: string): Promise<Image> {
  const stages = new Map<string, Image>()
  let image = emptyImage('')
  for (const [name, words] of instructionsOf(
    await readFile(join(projectRoot, 'Dockerfile'), 'utf8'),
  )) {
    if (name === 'FROM') {
      const stage = / AS (\w+)$/.exec(words)?.[1] ?? 'last'
      image = emptyImage(join(folder, stage))
      for (const it of own) await mkdir(join(image.root, it), { recursive: true })
      stages.set(stage, image)
    } else image = await carryOut(image, name, words, stages)
  }
  return image
}

/** Whether `.dockerignore` lets a file of the project into an image. Its last line that fits decides; the first, `*`, fits all. */
export async function isInContext(file: string): Promise<boolean> {
  const lines = (await readFile(join(projectRoot, '.dockerignore'), 'utf8')).split('\n')
  const patterns = lines.filter((line) => line !== '' && !line.startsWith('#'))
  const fits = (line: string) => {
    const pattern = line.replace(/^!/, '')
    return [pattern, `${pattern}/**`].some((it) => matchesGlob(file, it))
  }
  return patterns.findLast(fits)?.startsWith('!') ?? false
}

/** Starts a command as `docker run --read-only --tmpfs /tmp` does, as process 1 of its own. */
export function runImage(
  image: Image,
  command: readonly string[],
  settings: Readonly<Record<string, string>>,
) {
  const inside = rootWith(image, ['usr', 'bin', 'sbin', 'lib', 'lib64', 'etc'], 'ro')
  const options = ['--mount', '--pid', '--fork', '--kill-child', '--propagation', 'private']
  const words = ['sh', '-euc', inside, 'sh', '/usr/bin/env', ...command]
  const env = { PATH: '/opt/node:/usr/sbin:/usr/bin:/sbin:/bin', ...image.environment, ...settings }
  return endWithUs(
    spawn('unshare', [...options, ...words], { env, stdio: ['ignore', 'pipe', 'pipe'] }),
  )
}

const emptyImage = (root: string): Image => ({
  ...{ root, environment: {}, user: '0:0', workingFolder: '/', entrypoint: [], healthcheck: [] },
})

function instructionsOf(dockerfile: string): readonly (readonly [name: string, words: string])[] {
  const lines = dockerfile
    .replace(/^#.*\n/gm, '')
    .replaceAll('\\\n', ' ')
    .split('\n')
  return lines
    .filter((line) => line.trim() !== '')
    .map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1).trim()])
}

async function carryOut(
  image: Image,
  name: string,
  words: string,
  stages: ReadonlyMap<string, Image>,
): Promise<Image> {
  switch (name) {
    case 'RUN':
      await run(image, words)
      return image
    case 'COPY':
      await copy(image, words.split(/\s+/), stages)
      return image
    case 'WORKDIR':
      return { ...image, workingFolder: words }
    case 'USER':
      return { ...image, user: words }
    case 'ENV':
      return { ...image, environment: { ...image.environment, ...environmentOf(words) } }
    case 'ENTRYPOINT':
      return { ...image, entrypoint: JSON.parse(words) as string[] }
    case 'HEALTHCHECK':
      return { ...image, healthcheck: JSON.parse(words.replace(/^.*?CMD /, '')) as string[] }
    case 'VOLUME':
    case 'EXPOSE':
      return image
    default:
      throw new Error(`image.ts does not know the instruction ${name} of the Dockerfile.`)
  }
}

const environmentOf = (words: string) =>
  Object.fromEntries(words.split(/\s+/).map((word) => word.split('=', 2) as [string, string]))

async function run(image: Image, command: string): Promise<void> {
  const inside = rootWith(image, ['*'], 'rw')
  const options = ['--mount', '--propagation', 'private', 'sh', '-euc', inside, 'sh']
  // With our environment, as npm may need some of it to reach its registry.
  const env = { ...process.env, PATH: `/opt/node:${path}`, TMPDIR: '/tmp' }
  await promisify(execFile)('unshare', [...options, '/bin/sh', '-euc', command], { env })
}

async function copy(image: Image, words: readonly string[], stages: ReadonlyMap<string, Image>) {
  const from = words[0]?.startsWith('--from=')
    ? stages.get(words[0].slice('--from='.length))
    : undefined
  const paths = from ? words.slice(1) : words
  const target = join(image.root, image.workingFolder, paths.at(-1) ?? '')
  for (const it of paths.slice(0, -1)) {
    const isFile = it.includes('.')
    await cp(join(from?.root ?? projectRoot, it), isFile ? join(target, basename(it)) : target, {
      recursive: true,
      verbatimSymlinks: true,
      filter: async (source) =>
        from !== undefined || (await isInContext(relative(projectRoot, source))),
    })
  }
}

/**
 * The shell script that runs its parameters in the image's root: folders of this machine, those of the
 * image, and an empty `/tmp`.
 *
 * @param mode with `ro` nothing but the volume and `/tmp` can be written
 */
function rootWith(image: Image, folders: readonly string[], mode: 'ro' | 'rw'): string {
  const bind = (from: string, to: string, how = mode) => `mkdir -p "$root${to}"
    mount --rbind ${from} "$root${to}"
    ${how === 'ro' ? `mount -o remount,bind,ro "$root${to}"` : ''}`
  return `root=${image.root}/root
    mkdir -p "$root"
    mount -t tmpfs none "$root"
    mount --make-unbindable "$root"
    cd /
    for it in ${folders.join(' ')}; do
      case $it in ${own.join('|')}|tmp|proc) continue ;; esac
      if [ -L "$it" ]; then cp -P "$it" "$root/$it"; continue; fi
      [ -d "$it" ] || continue
      ${bind('"/$it"', '/$it')}
    done
    ${bind('/dev', '/dev', 'rw')}
    mkdir "$root/proc"
    mount -t proc none "$root/proc"
    ${bind(nodeFolder, '/opt/node')}
    ${bind(join(image.root, 'app'), '/app')}
    ${bind(join(image.root, 'data'), '/data', 'rw')}
    mkdir -m 1777 "$root/tmp"
    mount -t tmpfs none "$root/tmp"
    ${mode === 'ro' ? 'mount -o remount,bind,ro "$root"' : ''}
    cd "$root${image.workingFolder}"
    exec chroot --userspec=${image.user} --groups= "$root" /usr/bin/env -C ${image.workingFolder} "$@"`
}
