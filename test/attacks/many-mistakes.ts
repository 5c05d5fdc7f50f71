import { postBulk } from '../../harness/post-signup.ts'
import type { Attack } from './carry-out.ts'

const names = Array.from({ length: 20 }, (_, index) => `a-field-with-name-${index}`)
const options = Array.from({ length: 20 }, (_, index) => String(index).padEnd(200, 'x'))
const fields = names.map((name) => ({ name, type: 'choice', required: true, options }))
const items = 1_000
const atOnce = 8
/** An item of the answer takes some 50 bytes, and the errors of all items together some 100,000. */
const answerBytesMax = 250_000

/** Signups in which as much as possible is wrong. None is accepted, or all but the first. */
const signups: Readonly<Record<string, readonly unknown[]>> = {
  'wrong choices': filled(Object.fromEntries(names.map((name) => [name, 'x']))),
  'unknown fields': filled(Object.fromEntries(names.map((name) => [`${name}~`, 0]))),
  'fields that are missing': filled({}),
  'no signups': filled(0),
  'no signups behind one': [
    { email: 'ada@example.com', ...Object.fromEntries(names.map((name) => [name, options[0]])) },
    ...filled(0).slice(1),
  ],
}

function filled(item: unknown): readonly unknown[] {
  return Array.from({ length: items }, () => item)
}

export const manyMistakes: Attack = {
  what: 'Clients send lists in which everything is wrong, to a site with many fields and options.',
  settings: async () => ({
    RATE_LIMIT_PER_MINUTE: '0',
    ROLLCALL_CONFIG: JSON.stringify({ sites: { default: {}, other: { fields } } }),
  }),
  run: async ({ url }, size) => {
    let largest = 0
    const send = async (list: readonly unknown[]) => {
      const answer = await postBulk(url, { site: 'other', signups: list })
      if (answer.status !== 422 && answer.status !== 207)
        throw new Error(`a list of mistakes was answered ${answer.status}`)
      const { byteLength } = await answer.arrayBuffer()
      largest = Math.max(largest, byteLength)
    }
    for (let round = 0; round < (size === 'small' ? 1 : 20); round++) {
      for (const [name, list] of Object.entries(signups)) {
        await Promise.all(Array.from({ length: atOnce }, () => send(list)))
        if (largest > answerBytesMax) throw new Error(`an answer to ${name} has ${largest} bytes`)
      }
    }
  },
}
