/** Runs in the widget's frame: asks the emulator for a token, and shows the box to tick. */
import type { Solution } from '../emulator.ts'

const parameters = Object.fromEntries(new URLSearchParams(location.search))
const status = document.querySelector('#status')
const ask = document.querySelector<HTMLElement>('#ask')

document.documentElement.lang = parameters['language'] ?? 'en'
ask?.addEventListener('change', () => {
  ask.hidden = true
  void work(true)
})
void work(false)

async function work(ticked: boolean): Promise<void> {
  const { provider, siteKey, hostname } = parameters
  const body = JSON.stringify({ provider, siteKey, hostname, ticked })
  const answer = await fetch('/widget/solve', { method: 'POST', body })
  const solution = (await answer.json()) as Solution
  if (ask && solution.kind === 'interactive') ask.hidden = false
  if (status) {
    const texts = { token: 'Done (emulated)', error: 'Failed (emulated)', interactive: '' }
    status.textContent = texts[solution.kind]
  }
  parent.postMessage(solution, '*')
}
