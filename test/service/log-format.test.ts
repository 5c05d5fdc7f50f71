import { expect, test } from 'vitest'
import { startOnTerminal } from '../../harness/terminal.ts'
import { tempFolder } from '../../harness/temp-folder.ts'

test(
  'on a terminal the log is for people, and LOG_FORMAT=json makes it JSON',
  { tags: 'slow' },
  async () => {
    await using folder = await tempFolder()
    const env = { HOST: '127.0.0.1', PORT: '0' }
    for (const [format, line] of [
      ['', 'INFO  delivery started  location='],
      ['json', '"msg":"delivery started"}'],
    ] as const) {
      using terminal = startOnTerminal([], {
        folder: folder.path,
        env: { ...env, LOG_FORMAT: format },
      })
      await terminal.sees(line)
      terminal.kill('SIGTERM')
      expect(await terminal.ended).toBe(0)
    }
  },
)
