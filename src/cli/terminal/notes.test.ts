import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { Notes } from './notes.ts'

/** Notes to a stream that keeps them, at a time that the test sets. */
function makeNotes(isTTY: boolean) {
  const stream = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY })
  const time = { ms: 0 }
  const notes = new Notes(stream, { elapsed: () => time.ms })
  return { notes, time, text: () => String(stream.read() ?? '') }
}

test('a terminal shows one bar that moves, and nothing of it stays', () => {
  const { notes, time, text } = makeNotes(true)
  {
    using progress = notes.progress('signups read', 2000)
    progress.at(500)
    expect(text()).toBe(`\r[${'#'.repeat(6)}${' '.repeat(18)}] 500 of 2,000 signups read (25 %)`)
    time.ms = 99
    progress.at(600)
    expect(text()).toBe('')
    time.ms = 100
    progress.at(3000)
    expect(text()).toMatch(/^\r\[#{24}\] 3,000 of 2,000 signups read \(100 %\)$/)
    notes.tell('A line.')
    expect(text()).toMatch(/^\r +\rA line\.\n\r\[#/)
  }
  expect(text()).toMatch(/^\r +\r$/)
})

test('elsewhere there is a plain line every ten seconds', () => {
  const { notes, time, text } = makeNotes(false)
  using progress = notes.progress('signups read')
  progress.at(1)
  time.ms = 9_999
  progress.at(2)
  expect(text()).toBe('')
  time.ms = 10_000
  progress.at(1234)
  expect(text()).toBe('1,234 signups read\n')
})

test('a closed standard error stops nothing', () => {
  const { notes } = makeNotes(false)
  const stream = new PassThrough()
  const others = new Notes(stream, { elapsed: () => 0 })
  stream.destroy(new Error('EPIPE'))
  expect(() => others.tell('A line.')).not.toThrow()
  expect(() => notes.tell('A line.')).not.toThrow()
})
