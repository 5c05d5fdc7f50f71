import { execFileSync, spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { type ClientHttp2Session, connect, type IncomingHttpHeaders } from 'node:http2'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { vi } from 'vitest'
import { endWithUs } from '../../../harness/end-with-us.ts'
import { freePort } from '../../../harness/free-port.ts'
import { patienceMs } from '../../../harness/patience.ts'
import { projectRoot } from '../../../harness/source-file.ts'
import { tempFolder } from '../../../harness/temp-folder.ts'
import { end, path } from './program.ts'

export interface Proxy extends AsyncDisposable {
  /** What visitors use. */
  readonly url: string
}

/**
 * Starts Caddy with a file of the examples, which gets these variables.
 *
 * @param file its path in the project
 * @param env with the site in `SITE`, on a port of this machine
 */
export async function startCaddy(
  file: string,
  env: Readonly<{ SITE: string } & Record<string, string>>,
): Promise<Proxy> {
  const example = await readFile(join(projectRoot, file), 'utf8')
  // Other tests run a Caddy, too, and nobody may trust what it signs for itself.
  const options = `{\n\tadmin off\n\tskip_install_trust\n\thttp_port ${await freePort()}\n}\n`
  return startProxy(options + example, caddyIn, env.SITE, env)
}

/** Runs Caddy with the settings in this folder. */
export const caddyIn = (folder: string): readonly string[] => [
  ...['caddy', 'run', '--adapter', 'caddyfile', '--config', join(folder, 'settings')],
]

/** Starts nginx with the file of the examples, on free ports, with a certificate of its own making. */
export async function startNginx(rollcall: string): Promise<Proxy> {
  const [http, https] = [await freePort(), await freePort()]
  await using certificate = new AsyncDisposableStack()
  const folder = certificate.use(await tempFolder()).path
  makeCertificate(folder)
  const example = await readFile(join(projectRoot, 'examples/proxies/nginx.conf'), 'utf8')
  const ours = example
    .replace(/^ *listen \[::\].*\n/gm, '')
    .replace('listen 80;', `listen 127.0.0.1:${http};`)
    .replace('listen 443 ', `listen 127.0.0.1:${https} `)
    .replaceAll('/etc/letsencrypt/live/signup.example.com', folder)
    .replaceAll('signup.example.com', 'localhost')
    .replace('127.0.0.1:3000', rollcall)
  const proxy = await startProxy(
    ours,
    (own) => ['nginx', '-e', 'stderr', '-p', own, '-c', join(own, 'main')],
    `https://localhost:${https}`,
  )
  const kept = certificate.move()
  return {
    url: proxy.url,
    [Symbol.asyncDispose]: async () => {
      await proxy[Symbol.asyncDispose]()
      await kept.disposeAsync()
    },
  }
}

/**
 * Starts a proxy whose command is given the folder with these settings, for nginx also with a file `main`
 * that includes them. Resolves when it answers at this URL.
 */
export async function startProxy(
  settings: string,
  command: (folder: string) => readonly string[],
  url: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Proxy> {
  await using stack = new AsyncDisposableStack()
  const folder = stack.use(await tempFolder()).path
  await writeFile(join(folder, 'settings'), settings)
  await writeFile(join(folder, 'main'), nginxAround(folder))
  const [program = '', ...rest] = command(folder)
  const homes = { HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder }
  const child = spawn(program, rest, { env: { PATH: path, ...homes, ...env }, stdio: 'ignore' })
  endWithUs(child)
  stack.defer(() => end(child))
  const isUp = async () => {
    await (url.startsWith('https:') ? visit(url, '/api/health') : fetch(url))
  }
  await vi.waitFor(isUp, { timeout: patienceMs, interval: 100 })
  const all = stack.move()
  return { url, [Symbol.asyncDispose]: () => all.disposeAsync() }
}

/** What Debian has around the files of `/etc/nginx/conf.d/`, with everything in one folder. */
const nginxAround = (
  folder: string,
) => `daemon off; master_process off; pid ${folder}/pid; events {}
  http { access_log off; include ${folder}/settings;
    ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((it) => `${it}_temp_path ${folder}/${it};`).join(' ')} }`

function makeCertificate(folder: string): void {
  const files = ['-keyout', join(folder, 'privkey.pem'), '-out', join(folder, 'fullchain.pem')]
  const kind = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1']
  execFileSync('openssl', [...kind, '-nodes', '-subj', '/CN=localhost', ...files], {
    stdio: 'ignore',
  })
}

export interface Visit {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** The visitor's address, of this machine. */
  readonly from?: string
}

/** Sends one request over HTTP/2, on a connection of its own. Rejects when the other side speaks no HTTP/2. */
export async function visit(url: string, to: string, options: Visit = {}) {
  const { method = 'GET', headers = {}, body, from: localAddress = '127.0.0.1' } = options
  const { host, hostname, port } = new URL(url)
  const tls = { servername: hostname, rejectUnauthorized: false, localAddress }
  const session = connect(`https://127.0.0.1:${port}`, tls)
  try {
    const request = session.request({
      ...{ ':method': method, ':path': to, ':authority': host, ...headers },
    })
    request.end(body)
    const answer = await answered(session, request)
    return { status: Number(answer[':status']), headers: answer, body: await text(request) }
  } finally {
    session.destroy()
  }
}

function answered(session: ClientHttp2Session, request: ReturnType<ClientHttp2Session['request']>) {
  return new Promise<IncomingHttpHeaders>((resolve, reject) => {
    session.once('error', reject)
    request.once('error', reject).once('response', resolve)
  })
}
