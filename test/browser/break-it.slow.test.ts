// @module-tag slow
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openPage } from '../../harness/browser.ts'
import { patienceMs } from '../../harness/patience.ts'
import { shareService } from '../../harness/shared-service.ts'
import { projectRoot } from '../../harness/source-file.ts'
import type { State } from '../../scripts/break-it/world.ts'

const shared = shareService({ program: join(projectRoot, 'scripts/sandbox.ts') })
const addressOf = () => /^Try to break it: (\S+)/.exec(shared.service.output())?.[1] ?? ''

/** Waits until each attempt was made so often, is over, and is written. */
async function untilWritten(times: number): Promise<void> {
  const look = async () => {
    const state = (await (await fetch(`${addressOf()}/state`)).json()) as State
    const made = Object.values(state.made)
    const isOver = made.length === 7 && made.every((it) => it.times === times && !it.isRunning)
    return { isOver, unanswered: state.unanswered, missing: state.missing, double: state.double }
  }
  const over = { isOver: true, unanswered: 0, missing: 0, double: 0 }
  await expect.poll(look, { interval: 100, timeout: 2 * patienceMs }).toEqual(over)
}

test('whatever is pressed, and in whatever order, each who was answered has one row', async () => {
  await using opened = await openPage(shared.browser, addressOf())
  const { page, complaints } = opened
  await page.getByText('Nothing was pressed yet.').waitFor()
  await page.getByRole('button', { name: 'Press everything' }).click()
  await page.getByText('Breaking it').waitFor()
  await untilWritten(1)

  for (const name of ['quota', 'kill', 'late', 'tenfold', 'lost', 'crowd', 'down']) {
    await page.locator(`[data-attempt=${name}]`).click()
  }
  await untilWritten(2)

  await page.getByText(/^Each of the [\d,]+ who were answered has one row\.$/).waitFor()
  const numberOf = (id: string) => page.locator(`#${id} dd`).first().textContent()
  expect(await numberOf('rows')).toBe(await numberOf('answered'))
  expect([await numberOf('missing'), await numberOf('double')]).toEqual(['0', '0'])
  expect(complaints).toEqual([])
})
