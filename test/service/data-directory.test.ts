import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

import { asNobody } from '../../harness/as-nobody.ts'
import { ServiceEnded, startService } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'

interface Obstacle {
  readonly what: string
  /** What is in the way; `path` is a folder that is there. */
  readonly place: (path: string) => Promise<unknown>
  /** Below that folder. */
  readonly dataDir: string
  readonly says: readonly string[]
}

const obstacles: readonly Obstacle[] = [
  {
    what: 'it is a file',
    place: (path) => writeFile(join(path, 'data'), ''),
    dataDir: 'data',
    says: ['data cannot be used', 'data/lock', 'a file stands where a folder should be (ENOTDIR)'],
  },
  {
    what: 'a file is in its way',
    place: (path) => writeFile(join(path, 'file'), ''),
    dataDir: 'file/data',
    says: ['file/data cannot be made', 'a file stands where a folder should be (ENOTDIR)'],
  },
  {
    what: 'it may not be made',
    place: (path) => chmod(path, 0o555),
    dataDir: 'data',
    says: ['data cannot be made', 'permission denied (EACCES)', 'the right to write there'],
  },
  {
    what: 'it may not be written',
    place: (path) => mkdir(join(path, 'data'), { mode: 0o555 }),
    dataDir: 'data',
    says: ['data cannot be used', 'data/lock', 'permission denied (EACCES)'],
  },
  {
    what: 'its lock is a folder',
    place: (path) => mkdir(join(path, 'data/lock'), { recursive: true, mode: 0o777 }),
    dataDir: 'data',
    says: ['data/lock', 'a folder stands where a file should be (EISDIR)'],
  },
  {
    what: 'its journal is a folder',
    place: (path) => mkdir(join(path, 'journal.db'), { recursive: true }),
    dataDir: '.',
    says: ['journal.db cannot be opened', 'a folder stands where a file should be (EISDIR)'],
  },
  {
    what: 'its journal may not be written',
    place: (path) => writeFile(join(path, 'journal.db'), '', { mode: 0o444 }),
    dataDir: '.',
    says: ['journal.db cannot be opened', 'permission denied (EACCES)'],
  },
  {
    what: 'no folder can be made in the one above it',
    place: async () => {},
    dataDir: '/proc/rollcall/data',
    says: ['/proc/rollcall/data cannot be made'],
  },
]

describe.concurrent('at the start', () => {
  test.each(obstacles)(
    'a DATA_DIR that cannot be used ends it with what to do: $what',
    async ({ place, dataDir, says }) => {
      await using folder = await tempFolder()
      const options = await asNobody(folder)
      await place(folder.path)
      const path = dataDir.startsWith('/') ? dataDir : join(folder.path, dataDir)
      const ended = await startService({ ...options, dataDir: path }).catch((it: unknown) => it)
      if (!(ended instanceof ServiceEnded)) throw new Error('It started.')
      expect(ended.code).toBe(1)
      for (const text of [...says, 'or set DATA_DIR to another folder.']) {
        expect(ended.output).toContain(text)
      }
      const lines = ended.output.trimEnd().split('\n')
      const messages = lines.filter((line) => !line.startsWith('{'))
      expect(messages, 'one message beside what the log says').toHaveLength(1)
    },
  )
})
