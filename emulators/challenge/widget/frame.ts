/** Runs in the widget's frame: asks the emulator for a token, and shows the box to tick. */
import type { Solution } from '../emulator.ts'
import type { FrameMessage } from './messages.ts'

const parameters = new URLSearchParams(location.search)
const parameter = (name: string) => parameters.get(name) ?? ''
const status = document.querySelector('#status')
const ask = document.querySelector<HTMLElement>('#ask')
const box = document.querySelector<HTMLInputElement>('#box')

document.documentElement.lang = parameter('language') || 'en'
document.documentElement.dataset['theme'] = parameter('theme')
void work(false)

async function work(ticked: boolean): Promise<void> {
  const solution = await solve(ticked)
  switch (solution.kind) {
    case 'silent':
      return
    case 'token':
      show('Done (emulated)')
      break
    case 'error':
      show(`Failed: ${solution.code} (emulated)`)
      break
    case 'interactive':
      askForTick(solution.waitMs)
      break
  }
  tell(solution)
}

async function solve(ticked: boolean): Promise<Solution> {
  const answer = await fetch('/widget/solve', {
    method: 'POST',
    body: JSON.stringify({
      provider: parameter('provider'),
      siteKey: parameter('siteKey'),
      hostname: parameter('hostname'),
      action: parameter('action'),
      cdata: parameter('cdata'),
      ticked,
    }),
  })
  return (await answer.json()) as Solution
}

function askForTick(waitMs: number): void {
  show('')
  if (ask) ask.hidden = false
  const timer = setTimeout(() => {
    if (ask) ask.hidden = true
    show('Time is up (emulated)')
    tell({ kind: 'timeout' })
  }, waitMs)
  box?.addEventListener('change', () => {
    clearTimeout(timer)
    if (ask) ask.hidden = true
    tell({ kind: 'ticked' })
    void work(true)
  })
}

function show(text: string): void {
  if (status) status.textContent = text
}

function tell(message: FrameMessage): void {
  parent.postMessage(message, '*')
}
