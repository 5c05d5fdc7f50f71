import { alternate, inWords, ratios } from '../alternate.ts'
import { requestsPerSecond, usualBody } from '../load.ts'
import { atLeast, type Scenario } from '../scenario.ts'
import { World } from '../world.ts'

const connections = 64
/** Each from another address, so that each needs a mail of its own. */
const body = usualBody.replace('ada.lovelace@', 'ada.%d@')

/**
 * The rate of signups that are to be confirmed, divided by the rate of accepted ones. Nothing listens at the
 * mail server's address, so it is their cost without the sending.
 */
export const confirmationScenario: Scenario = {
  name: 'confirmation',
  what: `pending signups against accepted ones, ${connections} connections, sending apart`,
  unit: '×',
  reach: atLeast(1 / 1.6),
  aim: atLeast(1 / 1.6),
  async run(sizes) {
    await using world = await World.create()
    const provider = await world.provider()
    const off = await world.service(provider)
    const on = await world.service(provider, {
      env: {
        CONFIRMATION: 'mail',
        MAIL_URL: 'smtp://127.0.0.1:9',
        MAIL_FROM: 'hello@example.com',
        PUBLIC_URL: 'https://example.com',
      },
    })
    const slice = (url: string, seconds: number) =>
      requestsPerSecond({
        ...{ url: `${url}/api/signup`, connections, seconds },
        ...{ body, folder: world.folder },
      })
    const rates = await alternate({ service: off, slice }, { service: on, slice }, sizes)
    return { values: ratios(rates), note: inWords(rates) }
  },
}
