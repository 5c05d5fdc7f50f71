import { expect, test } from 'vitest'
import { startService } from '../../harness/start-service.ts'
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

test('LOG_FORMAT=text is without colours when it is not read on a terminal', async () => {
  await using service = await startService({ env: { LOG_FORMAT: 'text' } })
  await expect.poll(service.output).toContain('delivery started')
  expect(service.output()).toContain('INFO  delivery started  location=')
  expect(service.output()).not.toContain('\u001b')
})
