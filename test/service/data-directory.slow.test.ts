// @module-tag slow
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

import { asNobody } from '../../harness/as-nobody.ts'
import { failedStart } from '../../harness/start-service.ts'
import { tempFolder } from '../../harness/temp-folder.ts'

interface Obstacle {
  readonly what: string
  /** Puts the obstacle into an existing folder. */
  readonly place: (path: string) => Promise<unknown>
  /** Relative to that folder. */
  readonly dataDir: string
  readonly says: readonly string[]
}

const obstacles: readonly Obstacle[] = [
  {
    what: 'a file is in its way',
    place: (path) => writeFile(join(path, 'file'), ''),
    dataDir: 'file/data',
    says: ['file/data cannot be made', 'a file stands where a folder should be (ENOTDIR)'],
  },
  {
    what: 'the user may not write to it',
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
]

describe.concurrent('the start of the service', () => {
  test.each(obstacles)(
    'a DATA_DIR that cannot be used ends the start with what to do: $what',
    async ({ place, dataDir, says }) => {
      await using folder = await tempFolder()
      const options = await asNobody(folder)
      await place(folder.path)
      const ended = await failedStart({ ...options, dataDir: join(folder.path, dataDir) })
      expect(ended.code).toBe(1)
      for (const text of [...says, 'or set DATA_DIR to another folder.']) {
        expect(ended.output).toContain(text)
      }
      const lines = ended.output.trimEnd().split('\n')
      const messages = lines.filter((line) => !line.startsWith('{'))
      expect(messages, 'one message besides the lines of the log').toHaveLength(1)
    },
  )
})
