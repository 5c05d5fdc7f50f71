import { html, raw } from 'hono/html'
import { digits } from '../platform/digits.ts'
import type { Html } from '../pages/document.ts'
import { headRow } from './frame.ts'
import { type Step, stepWords } from './periods.ts'

/** In the units of the picture. Its letters are larger on a phone, where a unit is smaller. */
const [width, top, floor, bottom] = [480, 14, 176, 200]
const digitWidth = 10

/** Round values from 0 to the largest one or a bit more: two to five of them, all whole numbers. */
export function ticksFor(max: number): readonly number[] {
  const power = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(max, 1) / 4)))
  const step = power * ([1, 2, 5].find((times) => times * power * 4 >= max) ?? 10)
  return Array.from({ length: Math.max(1, Math.ceil(max / step)) + 1 }, (_, at) => at * step)
}

/** Bars by hour or by day, with the time before as a line. What it shows is also in `chartTable`. */
export function chart(name: string, steps: readonly Step[], isHourly: boolean): Html {
  const ticks = ticksFor(Math.max(...steps.flatMap(({ now, before }) => [now, before])))
  const most = ticks.at(-1) ?? 1
  const left = digits(most).length * digitWidth + 6
  const each = (width - left) / steps.length
  const yOf = (value: number) => (floor - (value / most) * (floor - top)).toFixed(1)
  const xOf = (at: number) => (left + at * each).toFixed(1)
  const words = (step?: Step) => step && stepWords(step.begin, isHourly)
  const line = steps.map(({ before }, at) => `${xOf(at + 0.5)},${yOf(before)}`).join(' ')
  return html`<svg class="chart" viewBox="0 0 ${width} ${bottom}" role="img" aria-label="${name}">
    ${ticks.map(
      (tick) =>
        html`<path class="grid" d="M${left} ${yOf(tick)}H${width}" />
          <text class="end" x="${left - 6}" y="${yOf(tick)}" dy="4">${digits(tick)}</text>`,
    )}
    ${drawn(steps, (step, at) => {
      const told = `${words(step) ?? ''}: ${digits(step.now)}, before: ${digits(step.before)}`
      const bar = `M${xOf(at + 0.12)} ${floor}V${yOf(step.now)}H${xOf(at + 0.88)}V${floor}z`
      const reach = `M${xOf(at)} ${top}H${xOf(at + 1)}V${floor}H${xOf(at)}z`
      return `<g><title>${told}</title><path class="reach" d="${reach}" /><path class="bar" d="${bar}" /></g>`
    })}
    <polyline class="before" points="${line}" />
    <text x="${left}" y="${bottom - 4}">${words(steps[0])}</text>
    <text class="end" x="${width}" y="${bottom - 4}">${words(steps.at(-1))}</text>
  </svg>`
}

/** The same numbers, for whoever does not see the picture. */
export function chartTable(name: string, steps: readonly Step[], isHourly: boolean): Html {
  return html`<table>
    <caption>
      ${name}, in UTC
    </caption>
    ${headRow('From', 'Number', 'Before')}
    ${drawn(steps, ({ begin, now, before }) => {
      const cells = `<td>${digits(now)}</td><td>${digits(before)}</td>`
      return `<tr><th scope="row">${stepWords(begin, isHourly)}</th>${cells}</tr>`
    })}
  </table>`
}

/** Without escaping, which takes as long as all else: a step has only numbers. */
function drawn(steps: readonly Step[], draw: (step: Step, at: number) => string): Html {
  return raw(steps.map(draw).join('\n'))
}
