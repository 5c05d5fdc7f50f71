import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { median, type Sizes } from '../scenario.ts'
import { World } from '../world.ts'
import { medianInterval } from './interval.ts'
import { type Life, live } from './life.ts'
import { checkOut } from './tree.ts'

/** The pairs of a whole run. With 18 of them, 95 % of the medians lie between the 5th and the 14th value. */
const pairs = 18

/** How much more of anything a tree may need than the release. */
const ratioMax = 1.02

/** The commit of the last release. A tag does not travel with every clone. */
export const release = readFileSync(join(import.meta.dirname, '../RELEASE'), 'utf8').trim()

const lines = [
  ['cpu-per-signup', 'CPU of a signup, 64 connections', 'µs', 'cpuPerSignup'],
  ['cpu-per-row', 'CPU of a delivered row', 'µs', 'cpuPerRow'],
  ['start', 'from the start of the process until it listens', 'ms', 'startMs'],
  ['memory-start', 'memory (RSS) when it listens', 'MB', 'startMegabytes'],
  ['memory-peak', 'memory (peak RSS) under load', 'MB', 'peakMegabytes'],
] as const satisfies readonly (readonly [string, string, string, keyof Life])[]

/**
 * Measures the last commit of this tree beside another commit, in turn: each starts in a data folder of its
 * own, takes signups and delivers them. Says one line of a table for each figure. Resolves with whether one
 * figure is certainly more than 1.02 of the other commit's, which a whole interval above it shows.
 */
export async function compareWith(
  commit: string,
  { rounds, sliceSeconds }: Pick<Sizes, 'rounds' | 'sliceSeconds'>,
  say: (line: string) => void,
): Promise<boolean> {
  await using world = await World.create()
  await using before = await checkOut(commit, world.path('before'))
  await using now = await checkOut('HEAD', world.path('now'))
  const lives: { readonly before: Life; readonly now: Life }[] = []
  for (let round = 0; round < (rounds > 1 ? pairs : 1); round++) {
    // Who goes first takes turns as well.
    const first = round % 2 === 0 ? before : now
    const other = first === before ? now : before
    const one = await live(world, first, sliceSeconds)
    const two = await live(world, other, sliceSeconds)
    lives.push(first === before ? { before: one, now: two } : { before: two, now: one })
  }

  say(`Commit ${now.commit} beside ${before.commit}, ${lives.length} pairs`)
  say('')
  say('| name | what | before | now | now by before: median (95 % interval) | |')
  say('|---|---|---|---|---|---|')
  let isWorse = false
  for (const [name, what, unit, figure] of lines) {
    const ratios = lives.map((pair) => pair.now[figure] / pair.before[figure])
    const { low, high } = medianInterval(ratios)
    const shown = (of: 'before' | 'now') =>
      `${median(lives.map((pair) => pair[of][figure])).toPrecision(4)} ${unit}`
    const verdict = low > ratioMax ? 'WORSE' : high < 1 ? 'better' : 'as before'
    isWorse ||= low > ratioMax
    say(
      `| ${name} | ${what} | ${shown('before')} | ${shown('now')} | ` +
        `**${median(ratios).toFixed(3)}** (${low.toFixed(3)} to ${high.toFixed(3)}) | ${verdict} |`,
    )
  }
  const installed = now.installMegabytes / before.installMegabytes
  isWorse ||= installed > ratioMax
  say(
    `| install | what npm start installs | ${before.installMegabytes.toFixed(0)} MB | ` +
      `${now.installMegabytes.toFixed(0)} MB | **${installed.toFixed(3)}** | ` +
      `${installed > ratioMax ? 'WORSE' : installed < 1 ? 'better' : 'as before'} |`,
  )
  return isWorse
}
