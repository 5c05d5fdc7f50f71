import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, test } from 'vitest'

test('two signals within a second, as Ctrl-C sends under npm, count as one; a later one ends the process', async () => {
  const path = JSON.stringify(join(import.meta.dirname, 'stop-signals.ts'))
  const program = `import { onStopSignal } from ${path}
    setInterval(() => {}, 1000)
    onStopSignal(() => console.log('stop'))
    console.log('ready')`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
      // A poll might see it a second too late.
      if (output === 'ready\nstop\n') child.kill('SIGINT')
    })
    await expect.poll(() => output).toBe('ready\n')
    child.kill('SIGINT')
    await expect.poll(() => output).toBe('ready\nstop\nstop\n')
    const exited = once(child, 'exit')
    await expect.poll(() => child.kill('SIGINT')).toBe(false)
    expect(await exited).toEqual([null, 'SIGINT'])
  } finally {
    child.kill('SIGKILL')
  }
})
