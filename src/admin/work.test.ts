import { expect, test } from 'vitest'
import type { Work } from '../journal/tables/admin-log.ts'
import type { Visit } from './visit.ts'
import { workView } from './work.ts'

const work = (id: string, seenAt: number): Work => ({
  ...{ id, kind: 'erase', madeAt: 0, seenAt, state: 'running', done: 1_234, report: '' },
})

/** What the view shows a minute after the start of these pieces of work. */
async function shown(all: readonly Work[], query = '') {
  const visit = {
    log: { work: async () => all },
    now: 60_000,
    url: 'http://a/admin/work',
    sites: [],
  }
  const { body, ...view } = await workView({
    ...visit,
    query: new URLSearchParams(query),
  } as unknown as Visit)
  return { ...view, text: String(await body) }
}

test('a page of work loads itself again as long as something of it runs', async () => {
  const all = [work('new', 59_000), work('old', 1_000)]
  expect(await shown(all)).toMatchObject({ refreshSeconds: 2 })
  expect(await shown(all, 'id=new')).toMatchObject({ refreshSeconds: 2 })
  const { text, refreshSeconds } = await shown(all, 'id=old')
  expect(refreshSeconds).toBeUndefined()
  expect(text).toContain('It was stopped with the service.')
  expect(text).toContain('1,234 so far')
})
