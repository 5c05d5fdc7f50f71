import { postBulk, postSignup } from '../../harness/post-signup.ts'
import type { Attack } from './carry-out.ts'

const email = 'ada@example.com'
/** The limit in docs/decisions/http.md. */
const perAddressMax = 10

export const newTabs: Attack = {
  what: 'One client names as many new tabs as it can.',
  settings: async () => ({ TRUST_PROXY: '1', RATE_LIMIT_PER_MINUTE: '0' }),
  run: async ({ url }, size) => {
    const requests = size === 'small' ? 3 : 50
    const attacker = { 'x-forwarded-for': '192.0.2.1' }
    let made = 0
    for (let request = 0; request < requests; request++) {
      const signups = Array.from({ length: 1_000 }, (_, item) => ({
        email,
        sheetTab: `Tab ${request}-${item}`,
      }))
      const answer = await postBulk(url, { signups }, attacker)
      if (answer.status === 207) made += ((await answer.json()) as { accepted: number }).accepted
      else if (answer.status !== 422)
        throw new Error(`a bulk request was answered ${answer.status}`)
    }
    if (made !== perAddressMax) throw new Error(`one client made ${made} new tabs`)
    const other = { 'x-forwarded-for': '192.0.2.2' }
    const page = await fetch(`${url}/?tab=Launch`, { headers: other })
    const taken = await postSignup(url, { email, sheetTab: 'Launch' }, other)
    if (page.status !== 200 || taken.status !== 202) {
      throw new Error(`others were answered ${page.status} and ${taken.status} for a new tab`)
    }
  },
}
