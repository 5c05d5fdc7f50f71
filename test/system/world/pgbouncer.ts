import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { endWithUs } from '../../../harness/end-with-us.ts'
import { freePort } from '../../../harness/free-port.ts'
import { giveAway, roles, startedBy } from '../../../harness/postgres-programs.ts'
import { path } from './program.ts'

/**
 * Starts PgBouncer in transaction mode before a PostgreSQL server: each transaction may get another
 * connection to it. It ends with this process. Resolves with its port.
 */
export async function startPgBouncer(server: { readonly port: number }): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'rollcall-pgbouncer-'))
  const port = await freePort()
  const settings = join(folder, 'pgbouncer.ini')
  const users = join(folder, 'users.txt')
  const { name, password } = roles.service
  await writeFile(users, `"${name}" "${password}"\n`)
  await writeFile(
    settings,
    `[databases]
* = host=127.0.0.1 port=${server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${users}
pool_mode = transaction
max_client_conn = 200
default_pool_size = 5
`,
  )
  await giveAway(folder)
  const child = spawn('pgbouncer', [settings], {
    ...startedBy,
    env: { ...startedBy.env, PATH: path },
    cwd: folder,
    stdio: 'ignore',
  })
  endWithUs(child)
  while (!(await listens(port))) {
    if (child.exitCode !== null) throw new Error('PgBouncer does not start.')
  }
  return port
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
