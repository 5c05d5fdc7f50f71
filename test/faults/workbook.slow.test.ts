// @module-tag slow
import { chmod, lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

import { asNobody } from '../../harness/as-nobody.ts'
import { allDelivered, readiness, waitUntil } from '../../harness/delivery-state.ts'
import { postSignup } from '../../harness/post-signup.ts'
import { readTab } from '../../harness/read-workbook.ts'
import { type RunningService, startService } from '../../harness/start-service.ts'
import { type TempFolder, tempFolder } from '../../harness/temp-folder.ts'

/** A service without rights, with a workbook that has two rows in Sheet1. */
interface Run extends AsyncDisposable {
  readonly service: RunningService
  readonly dataDir: string
  /** The file of Sheet1. */
  readonly path: string
  signUp(name: string, sheetTab?: string): Promise<Response>
  names(file?: string): (string | undefined)[]
}

async function startRun(folder: TempFolder): Promise<Run> {
  const dataDir = folder.path
  await using stack = new AsyncDisposableStack()
  const service = stack.use(await startService({ dataDir, ...(await asNobody(folder)) }))
  const signUp = (name: string, sheetTab = 'Sheet1') =>
    postSignup(service.url, { email: `${name}@example.com`, sheetTab })
  for (const name of ['ada', 'grace']) expect((await signUp(name)).status).toBe(202)
  await allDelivered(service)
  const running = stack.move()
  return {
    service,
    dataDir,
    path: join(dataDir, 'sheets', 'Sheet1.csv'),
    signUp,
    names: (file = 'Sheet1.csv') =>
      readTab(dataDir, file).map(([email]) => email?.replace('@example.com', '')),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

describe.concurrent('a tab file that cannot be written', () => {
  test('a tab file that is read-only delays no other tab, and is written once it can be', async () => {
    await using folder = await tempFolder()
    await using run = await startRun(folder)
    await chmod(run.path, 0o444)
    expect((await run.signUp('first')).status).toBe(202)
    await run.signUp('free', 'Other')
    const isAside = async () => (await readiness(run.service)).body.delivery.tabsSetAside.length > 0
    await waitUntil(isAside, () => `no tab is set aside:\n${run.service.output().slice(-2000)}`)
    const onlyOneWaits = async () => (await readiness(run.service)).body.delivery.backlog === 1
    await waitUntil(onlyOneWaits, () => 'the other tab waits too')
    expect(run.names('Other.csv')).toEqual(['Email', 'free'])
    const place = `the file with inode ${(await lstat(run.path)).ino}`
    const aside = { tab: place, error: 'The file of the tab cannot be written' }
    expect(await readiness(run.service)).toMatchObject({
      status: 200,
      body: {
        delivery: {
          state: 'partly blocked',
          error: aside.error,
          tabsSetAside: [aside],
          backlog: 1,
        },
      },
    })
    expect((await readiness(run.service, 'strict')).status).toBe(503)
    const second = await run.signUp('second')
    expect(await second.json()).toMatchObject({
      delivery: { state: 'blocked', error: aside.error },
    })

    await chmod(run.path, 0o644)
    await allDelivered(run.service)
    expect(run.names()).toEqual(['Email', 'ada', 'grace', 'first', 'second'])
    expect((await readiness(run.service, 'strict')).status).toBe(200)
    const output = run.service.output()
    const message = 'The file of a tab cannot be written: permission denied (EACCES)'
    expect(output.split(message).length - 1, 'logged once').toBe(1)
    expect(output).toContain(place)
    // The name of the default tab is the operator's. Only the line about the start of delivery has it.
    const others = output.split('\n').filter((line) => !line.includes('delivery started'))
    expect(others.join('\n'), 'no name of a tab').not.toContain('Sheet1')
  })

  test('a workbook folder that cannot be written blocks delivery, with what to do, until it can be', async () => {
    await using folder = await tempFolder()
    await using run = await startRun(folder)
    const sheets = join(run.dataDir, 'sheets')
    await chmod(sheets, 0o555)
    await chmod(join(sheets, '.rollcall'), 0o555)
    expect((await run.signUp('first')).status).toBe(202)
    const isBlocked = async () => (await readiness(run.service)).body.delivery.state === 'blocked'
    await waitUntil(
      isBlocked,
      () => `delivery is not blocked:\n${run.service.output().slice(-2000)}`,
    )
    const { status, body } = await readiness(run.service)
    expect(status).toBe(200)
    expect(body.delivery.error).toBe('The folder of the workbook cannot be written')
    expect(JSON.stringify(body)).not.toContain(run.dataDir)
    expect(run.service.output()).toMatch(
      /The workbook cannot be written: permission denied \(EACCES\).*right to write/,
    )
    expect((await readiness(run.service, 'strict')).status).toBe(503)

    await chmod(sheets, 0o755)
    await chmod(join(sheets, '.rollcall'), 0o755)
    await allDelivered(run.service)
    expect(run.names()).toEqual(['Email', 'ada', 'grace', 'first'])
  })
})
