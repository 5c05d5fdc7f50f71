import { isLocked } from '../../platform/node/directory-lock.ts'
import { httpClient } from '../../platform/node/http-client.ts'
import { serve } from '../command-words.ts'
import type { Check } from './check.ts'

const timeoutMs = 3_000

/** Who uses `DATA_DIR` and the port. */
export const processCheck: Check = async ({ config: { dataDir, listen } }) => {
  const check = 'process'
  if (isLocked(dataDir)) {
    const message = 'a service runs with this DATA_DIR; a second one would be refused'
    return [{ check, state: 'ok', message }]
  }
  const other = listen.port === 0 ? undefined : await whoListens(listen)
  if (other === undefined) {
    const hint = `Start it with ${serve}.`
    return [{ check, state: 'warning', message: `no service runs with ${dataDir}`, hint }]
  }
  return [
    {
      check,
      state: 'fault',
      message: `no service runs with ${dataDir}, and ${other} has port ${listen.port} already`,
      hint: 'Stop that process, or give the service another PORT.',
    },
  ]
}

/** Who answers at the address of the service; undefined when nobody does. */
async function whoListens({
  host,
  port,
}: {
  readonly host: string
  readonly port: number
}): Promise<string | undefined> {
  const here = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  const authority = here.includes(':') ? `[${here}]:${port}` : `${here}:${port}`
  try {
    const { text } = await httpClient({
      method: 'GET',
      url: `http://${authority}/api/health`,
      timeoutMs,
      answerBytesMax: 64 * 1024,
    })
    return text.trim() === '{"status":"ok"}'
      ? 'a Rollcall with another DATA_DIR'
      : 'another program'
  } catch (error) {
    return /ECONNREFUSED|EADDRNOTAVAIL|ENOTFOUND/.test(String(error))
      ? undefined
      : 'another program'
  }
}
