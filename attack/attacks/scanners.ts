import { limits } from '../../src/signup/limits.ts'
import { costlyRequests } from '../../harness/costly-requests.ts'
import { measure } from '../../harness/measure.ts'
import { sendRaw } from '../../harness/raw-http.ts'
import type { Attack } from '../attack.ts'

/** The longest turn that is allowed, in processor time. In a turn, nobody else is served. */
const turnMsMax = 600
/** The fastest try counts, because compiling and garbage collection can slow down a single one. */
const tries = 3
/** Made before the attack: making them keeps this process, and the bystander in it, busy for seconds. */
const costly = costlyRequests(limits.bodyBytesMax)

export const scanners: Attack = {
  name: 'scanners',
  what: 'Bodies and headers are as long as allowed and as hard to read as possible.',
  settings: () =>
    Promise.resolve({ RATE_LIMIT_PER_MINUTE: '0', TRUST_PROXY: '1', SHEET_TABS: 'News' }),
  run: async (target, size) => {
    const isChosen = (_: unknown, index: number) => size === 'full' || index % 20 === 0
    const requests = costly.filter(isChosen)
    let longestMs = 0
    let whose = ''
    for (const { title, bytes } of requests) {
      let ms = Infinity
      for (let tried = 0; tried < tries && ms > turnMsMax; tried++) {
        await measure(target)
        const [answer] = await sendRaw(target.url, bytes)
        if (!answer || answer.status >= 500) throw new Error(`${title}: ${String(answer?.status)}`)
        ms = Math.min(ms, (await measure(target)).longestTurnMs)
      }
      if (ms > longestMs) [longestMs, whose] = [ms, title]
    }
    if (longestMs > turnMsMax) throw new Error(`others waited ${longestMs} ms for: ${whose}`)
    return {
      'requests that are hard to read': requests.length,
      'ms of processor time were the longest turn': longestMs,
    }
  },
}
