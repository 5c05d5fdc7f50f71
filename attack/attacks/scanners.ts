import { setTimeout as sleep } from 'node:timers/promises'
import { limits } from '../../src/signup/limits.ts'
import { costlyRequests } from '../../harness/costly-requests.ts'
import { sendRaw } from '../../harness/raw-http.ts'
import type { Attack } from '../attack.ts'

/** Somebody else's wait on a machine that is busy with the attacker, too; an attack that works takes seconds. */
const waitMsMax = 1_000
/** The best counts: other programs need the machine, too. */
const tries = 3
const pauseMs = 2

export const scanners: Attack = {
  name: 'scanners',
  what: 'Bodies and headers are as long as they may be and as hard to read as can be.',
  settings: () =>
    Promise.resolve({ RATE_LIMIT_PER_MINUTE: '0', TRUST_PROXY: '1', SHEET_TABS: 'News' }),
  run: async ({ url }, size) => {
    const isChosen = (_: unknown, index: number) => size === 'full' || index % 20 === 0
    const requests = costlyRequests(limits.bodyBytesMax).filter(isChosen)
    let longestMs = 0
    let whose = ''
    for (const { title, bytes } of requests) {
      let ms = Infinity
      for (let tried = 0; tried < tries && ms > waitMsMax; tried++) {
        const ended = new AbortController()
        const waited = longestWaitMs(url, ended.signal)
        const [answer] = await sendRaw(url, bytes)
        ended.abort()
        if (!answer || answer.status >= 500) throw new Error(`${title}: ${String(answer?.status)}`)
        ms = Math.min(ms, await waited)
      }
      if (ms > longestMs) [longestMs, whose] = [ms, title]
    }
    if (longestMs > waitMsMax) throw new Error(`others waited ${longestMs} ms for: ${whose}`)
    return {
      'requests that are hard to read': requests.length,
      'ms were the longest wait': longestMs,
    }
  },
}

/** What somebody else sees, who asks again and again until `ended`. */
async function longestWaitMs(url: string, ended: AbortSignal): Promise<number> {
  let longestMs = 0
  while (!ended.aborted) {
    const begun = performance.now()
    await (await fetch(`${url}/api/health`)).arrayBuffer()
    longestMs = Math.max(longestMs, Math.ceil(performance.now() - begun))
    await sleep(pauseMs)
  }
  return longestMs
}
