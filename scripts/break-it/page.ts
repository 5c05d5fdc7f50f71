/** Shows what the sandbox has counted, and presses. It counts nothing itself. */
import type { State } from './world.ts'

const pollMs = 300
const backoff = 'After each failure the service waits longer, for a minute at most.'
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
  else tell('The sandbox does not answer any more.', 'bad')
  setTimeout(() => void watch(), pollMs)
}

function show(state: State): void {
  const { answered, answers, unanswered, rows, missing, double, made } = state
  const open = unanswered > 0 ? `, ${unanswered} still wait` : ''
  number('answered', answered, `people, in ${answers.toLocaleString('en')} answers${open}`)
  number('rows', rows, 'in the sheet as it is')
  number('missing', missing, 'answered, and no row', missing > 0 ? 'waits' : 'good')
  number('double', double, 'rows too many', double > 0 ? 'bad' : 'good')
  find('#pid').textContent = String(state.pid)
  find('code').textContent = state.deletion
  find('section a').setAttribute('href', state.sheetUrl)
  for (const button of buttons) {
    const { times = 0, isRunning = false } = made[nameOf(button)] ?? {}
    button.ariaBusy = String(isRunning)
    button.dataset['times'] = times > 0 ? `× ${times}` : ''
  }
  showVerdict(state)
  find('table').replaceChildren(...tableLines(state))
  find('ol').replaceChildren(...state.calls.map(callLine))
}

function showVerdict({ made, answered, unanswered, missing, double }: State): void {
  const all = Object.values(made)
  if (all.length === 0) tell('Nothing was pressed yet.')
  else if (double > 0) tell('It is broken: somebody has two rows.', 'bad')
  else if (unanswered > 0 || all.some(({ isRunning }) => isRunning)) tell('Breaking it …', 'waits')
  else if (missing > 0) tell(`${missing} have no row. ${backoff}`, 'waits')
  else tell(`Each of the ${answered.toLocaleString('en')} who were answered has one row.`, 'good')
}

function number(id: string, count: number, what: string, kind = ''): void {
  const place = find(`#${id}`)
  place.className = kind
  const told = [count.toLocaleString('en'), what].map((text) => element('dd', text))
  place.replaceChildren(place.children[0] ?? '', ...told)
}

/** Readers of the screen hear a sentence only when it changes. */
function tell(sentence: string, kind = ''): void {
  const verdict = find('#verdict')
  verdict.className = kind
  if (verdict.textContent !== sentence) verdict.textContent = sentence
}

function tableLines({ lastRows, rows }: State): HTMLElement[] {
  return lastRows.map((cells, index) => {
    const line = index === 0 ? 1 : rows - lastRows.length + index + 2
    const shown = cells.slice(0, 4).map((cell) => element(index === 0 ? 'th' : 'td', cell))
    return element('tr', element('td', String(line)), ...shown)
  })
}

function callLine({ time, status, applied, rows, fault }: State['calls'][number]): HTMLElement {
  const isKnown = status === 400 && fault === undefined
  const some = rows === 1 ? '1 row' : `${rows} rows`
  const did = {
    ...{ yes: `wrote ${some}`, twice: `wrote ${some} twice`, late: `writes ${some} later` },
    no: isKnown ? `knew ${some}` : 'wrote nothing',
  }
  const told = { dropped: 'answer lost', pending: 'no answer yet' }
  const said = typeof status === 'number' ? `answered ${status}` : told[status]
  const texts = [time.slice(11, 19), did[applied], said].map((text) => element('span', text))
  const line = element('li', ...texts)
  line.className = status === 200 ? 'good' : fault === undefined ? '' : 'waits'
  return line
}

function element(name: string, ...content: (string | Node)[]): HTMLElement {
  const made = document.createElement(name)
  made.append(...content)
  return made
}
