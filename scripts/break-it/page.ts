/** Shows what the sandbox has counted, and presses. It counts nothing itself. */
import { isLost, verdictOf } from './verdict.ts'
import type { State } from './world.ts'

const pollMs = 300
const find = (selector: string) => document.querySelector(selector) ?? document.body
const buttons = [...document.querySelectorAll<HTMLButtonElement>('[data-attempt]')]
const nameOf = ({ dataset }: HTMLElement) => dataset['attempt'] ?? ''

const press = (button: HTMLButtonElement) =>
  void fetch(`press/${nameOf(button)}`, { method: 'POST' })
for (const button of buttons) button.addEventListener('click', () => press(button))
find('#everything').addEventListener('click', () => buttons.forEach(press))
void watch()

async function watch(): Promise<void> {
  const answer = await fetch('state').catch(() => undefined)
  if (answer?.ok) show((await answer.json()) as State)
  else tell(['The sandbox does not answer any more.', 'bad'])
  setTimeout(() => void watch(), pollMs)
}

function show(state: State): void {
  const { answered, answers, unanswered, rows, missing, double, made } = state
  const open = unanswered > 0 ? `, ${unanswered} still wait` : ''
  number('answered', answered, `people, in ${answers.toLocaleString('en')} answers${open}`)
  number('rows', rows, 'in the sheet as it is')
  const missed = isLost(state) ? 'bad' : 'waits'
  number('missing', missing, 'answered, and no row', missing > 0 ? missed : 'good')
  number('double', double, 'rows too many', double > 0 ? 'bad' : 'good')
  fill('#pid', String(state.pid))
  fill('code', state.deletion)
  find('section a').setAttribute('href', state.sheetUrl)
  for (const button of buttons) {
    const { times = 0, isRunning = false } = made[nameOf(button)] ?? {}
    button.ariaBusy = String(isRunning)
    button.dataset['times'] = times > 0 ? `× ${times}` : ''
  }
  tell(verdictOf(state))
  fill('tbody', ...state.lastRows.map(rowLine))
  fill('ol', ...state.calls.map(callLine))
}

function number(id: string, count: number, what: string, kind = ''): void {
  find(`#${id}`).className = kind
  fill(`#${id} dd`, count.toLocaleString('en'))
  fill(`#${id} dd + dd`, what)
}

function tell([sentence, kind]: ReturnType<typeof verdictOf>): void {
  find('#verdict').className = kind
  fill('#verdict', sentence)
}

function rowLine({ line, address, time }: State['lastRows'][number]): HTMLElement {
  return element('tr', ...[String(line), address, time].map((text) => element('td', text)))
}

function callLine({ time, status, applied, rows, fault }: State['calls'][number]): HTMLElement {
  const some = rows === 1 ? '1 row' : `${rows} rows`
  const did = {
    ...{ yes: `wrote ${some}`, twice: `wrote ${some} twice`, late: `writes ${some} later` },
    ...{ known: `knew ${some}`, no: 'wrote nothing' },
  }
  const told = { dropped: 'answer lost', pending: 'no answer yet' }
  const said = typeof status === 'number' ? `answered ${status}` : told[status]
  const texts = [time.slice(11, 19), did[applied], said].map((text) => element('span', text))
  const line = element('li', ...texts)
  line.className = status === 200 ? 'good' : fault === undefined ? '' : 'waits'
  return line
}

/** Writes only what has changed: people select text, and readers of the screen hear a change. */
function fill(selector: string, ...content: (string | Node)[]): void {
  const place = find(selector)
  const filled = place.cloneNode() as Element
  filled.append(...content)
  if (!place.isEqualNode(filled)) place.replaceChildren(...filled.childNodes)
}

function element(name: string, ...content: (string | Node)[]): HTMLElement {
  const made = document.createElement(name)
  made.append(...content)
  return made
}
