import { execFile, spawn } from 'node:child_process'
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { endWithUs } from '../../../harness/end-with-us.ts'
import { projectRoot } from '../../../harness/source-file.ts'
import { path } from './program.ts'

const run = promisify(execFile)

/** An image that Buildah has built, with the files of a container in place. */
export interface Image {
  /** The root of the container's files. */
  readonly root: string
  readonly entrypoint: readonly string[]
  readonly healthcheck: readonly string[]
  /** Starts a command as `docker run --read-only --tmpfs /tmp` does, as process 1 of its own. */
  start(
    command: readonly string[],
    settings: Readonly<Record<string, string>>,
  ): ReturnType<typeof startInside>
  /** The files that `COPY .` takes from a folder with these files and our `.dockerignore`. */
  copied(files: readonly string[]): Promise<string[]>
}

/** What the builder says of an image. */
interface Config {
  readonly User: string
  readonly Env: readonly string[]
  readonly WorkingDir: string
  readonly Entrypoint: readonly string[]
  readonly Healthcheck: { readonly Test: readonly string[] }
}

/** What the base image has besides Node.js and npm, as far as the Dockerfile needs it. */
const programs = ['sh', 'env', 'rm', 'mkdir', 'chown', 'install']

/**
 * Builds the image of the Dockerfile with Buildah. No registry of images can be reached: in place of the
 * base image is one of this machine's files, with the Node.js that runs us. Needs root.
 *
 * @param folder where all of it is to be
 */
export async function buildImage(folder: string): Promise<Image> {
  const store = ['--storage-driver', 'vfs', '--root', join(folder, 'store')]
  const buildah = async (command: string, ...words: readonly string[]) => {
    const all = [...store, '--runroot', join(folder, 'run'), command, ...words]
    const { stdout } = await run('buildah', all, {
      env: { ...process.env, PATH: path, BUILDAH_ISOLATION: 'chroot' },
    })
    return stdout.trim()
  }
  const dockerfile = await readFile(join(projectRoot, 'Dockerfile'), 'utf8')
  const [, base = ''] = /^FROM (\S+)/m.exec(dockerfile) ?? []
  const files = await makeBase(join(folder, 'base'))
  const container = await buildah('from', 'scratch')
  await buildah('copy', container, files, '/')
  await buildah('config', '--env', 'PATH=/usr/local/bin:/bin', container)
  await buildah('commit', '--rm', container, `docker.io/library/${base}`)
  const build = (context: string, tag: string, ...options: readonly string[]) =>
    buildah('bud', '--format', 'docker', '--pull-never', '--tag', tag, ...options, context)
  await build(projectRoot, 'rollcall', ...(await mountsOfNpm(folder)))
  const inspected = await buildah('inspect', '--type', 'image', 'rollcall')
  const { config } = (JSON.parse(inspected) as { Docker: { config: Config } }).Docker
  const rootOf = async (tag: string) => buildah('mount', await buildah('from', tag))
  const root = await rootOf('rollcall')
  return {
    root,
    entrypoint: config.Entrypoint,
    healthcheck: config.Healthcheck.Test.slice(1),
    start: (command, settings) => startInside(root, config, command, settings),
    async copied(paths) {
      const context = join(folder, 'context')
      for (const it of paths) {
        await mkdir(dirname(join(context, it)), { recursive: true })
        await writeFile(join(context, it), '')
      }
      await cp(join(projectRoot, '.dockerignore'), join(context, '.dockerignore'))
      await writeFile(join(folder, 'Copied'), 'FROM scratch\nCOPY . /\n')
      await build(context, 'copied', '--file', join(folder, 'Copied'))
      const { stdout } = await run('find', [
        await rootOf('copied'),
        '-type',
        'f',
        '-printf',
        '%P\\n',
      ])
      return stdout.split('\n').filter((it) => it !== '')
    },
  }
}

/** Makes the files of a base image. */
async function makeBase(folder: string): Promise<string> {
  const npm = dirname(dirname(await realPath('npm')))
  const lib = join(folder, 'usr/local/lib/node_modules/npm')
  for (const it of ['bin', 'dev', 'proc', 'tmp', 'etc', 'usr/bin', 'usr/local/bin']) {
    await mkdir(join(folder, it), { recursive: true })
  }
  await cp(npm, lib, { recursive: true })
  await symlink('../lib/node_modules/npm/bin/npm-cli.js', join(folder, 'usr/local/bin/npm'))
  await symlink('/bin/env', join(folder, 'usr/bin/env'))
  const wanted = [[process.execPath, 'usr/local/bin/node']]
  for (const it of programs) wanted.push([await realPath(it), `bin/${it}`])
  for (const [from = '', to = ''] of wanted) {
    await cp(from, join(folder, to))
    const { stdout } = await run('ldd', [from])
    for (const [library] of stdout.matchAll(/\/\S+/g)) {
      await cp(library, join(folder, library), { dereference: true })
    }
  }
  return folder
}

/** Where a program of this machine is. */
async function realPath(program: string): Promise<string> {
  const { stdout } = await run('sh', ['-c', 'readlink -f "$(command -v "$0")"', program])
  return stdout.trim()
}

/** Lets npm in a `RUN` reach the registry as it does on this machine. */
async function mountsOfNpm(folder: string): Promise<readonly string[]> {
  const { stdout: registry } = await run('npm', ['config', 'get', 'registry'])
  const authorities = process.env['NODE_EXTRA_CA_CERTS']
  const own = await readFile(join(homedir(), '.npmrc'), 'utf8').catch(() => '')
  const lines = [
    own,
    `registry=${registry.trim()}`,
    ...(authorities ? ['cafile=/usr/local/etc/ca.pem'] : []),
  ]
  const npmrc = join(folder, 'npmrc')
  await writeFile(npmrc, lines.join('\n'), { mode: 0o600 })
  const mounts = [
    `${npmrc}:/usr/local/etc/npmrc:ro`,
    ...(authorities ? [`${authorities}:/usr/local/etc/ca.pem:ro`] : []),
  ]
  return mounts.flatMap((mount) => ['--volume', mount])
}

function startInside(
  root: string,
  { Env, User, WorkingDir }: Config,
  command: readonly string[],
  settings: Readonly<Record<string, string>>,
) {
  const script = `cd /
    mount --bind "$1/data" "$1/data"
    mount --rbind "$1" "$1"
    mount -o remount,bind,ro "$1"
    mount --rbind /dev "$1/dev"
    mount -t proc none "$1/proc"
    mount -t tmpfs none "$1/tmp"
    exec chroot --userspec=${User} --groups= "$@"`
  const options = ['--mount', '--pid', '--fork', '--kill-child', '--propagation', 'private']
  const words = ['sh', '-euc', script, 'sh', root, '/bin/env', '-C', WorkingDir, ...command]
  const ofImage = Object.fromEntries(Env.map((it) => it.split('=', 2) as [string, string]))
  // The script needs the programs of this machine, too.
  const inside = { ...ofImage, PATH: `${ofImage['PATH']}:${path}`, ...settings }
  return endWithUs(
    spawn('unshare', [...options, ...words], { env: inside, stdio: ['ignore', 'pipe', 'pipe'] }),
  )
}
