import { readFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { buildSync } from 'esbuild'
import { startLoopbackServer } from '../../emulators/loopback-server.ts'
import { startWorld } from './world.ts'

/**
 * Serves the page "Try to break it". It has a service and a sheet of its own, so that nothing else meets its
 * faults. They start when somebody first looks at it.
 */
export async function startBreakIt() {
  let started: ReturnType<typeof startWorld> | undefined
  const world = () => (started ??= startWorld())
  const server = await startLoopbackServer(async ({ method, url = '/' }, response) => {
    const [, first = '', name = ''] = url.split('/')
    switch (`${method} /${first}`) {
      case 'GET /':
        send(response, 'text/html', await readFile(fileOf('page.html'), 'utf8'))
        break
      case 'GET /page.css':
        send(response, 'text/css', bundle('page.css'))
        break
      case 'GET /page.js':
        send(response, 'text/javascript', bundle('page.ts'))
        break
      case 'GET /state':
        send(response, 'application/json', JSON.stringify((await world()).state()))
        break
      case 'POST /press':
        response.writeHead((await world()).press(name) ? 202 : 409).end()
        break
      default:
        response.writeHead(404).end()
    }
  })
  return {
    url: server.url,
    [Symbol.asyncDispose]: async () => {
      await server.stop()
      await (await started)?.[Symbol.asyncDispose]()
    },
  }
}

function fileOf(name: string): string {
  return join(import.meta.dirname, name)
}

function bundle(name: string): string {
  const built = buildSync({ entryPoints: [fileOf(name)], bundle: true, write: false })
  return built.outputFiles[0]?.text ?? ''
}

function send(response: ServerResponse, type: string, body: string): void {
  response.setHeader('Content-Type', `${type}; charset=utf-8`)
  response.setHeader(
    'Content-Security-Policy',
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:",
  )
  response.end(body)
}
