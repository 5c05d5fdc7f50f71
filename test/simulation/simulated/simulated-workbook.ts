import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { threadId } from 'node:worker_threads'

import { addressEnd } from '../make-signup.ts'
import type { PersonAct } from '../acts.ts'
import type { Dice } from '../dice.ts'
import { tabs } from '../schedule.ts'
import { SimulatedFiles } from './simulated-files.ts'
import type { Truth } from '../truth.ts'

/** Google numbers its sheets; files have no number. */
const noSheet = -1
const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** In memory where there is such a folder. Each worker thread has its own, so that traces are the same. */
const folder = join(
  existsSync('/dev/shm') ? '/dev/shm' : tmpdir(),
  `simulation-${process.pid}-${threadId}`,
)

/** A real folder with the local workbook, on a simulated disk, and the people who open its files. */
export class SimulatedWorkbook implements Disposable {
  readonly dataDir = folder
  readonly files: SimulatedFiles
  readonly #truth: Truth
  readonly #dice: Dice
  readonly #folder = join(this.dataDir, 'sheets')
  /** Addresses whose rows are in a file and stay there. */
  readonly #there = new Set<string>()
  /** Addresses whose rows a person has taken away. */
  readonly #gone = new Set<string>()

  constructor(truth: Truth, dice: Dice) {
    this.#truth = truth
    this.#dice = dice
    this.files = new SimulatedFiles(dice)
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { mode: 0o700 })
  }

  [Symbol.dispose](): void {
    rmSync(this.dataDir, { recursive: true })
  }

  /** Lets people write to every file again. */
  heal(): void {
    this.files.locked.clear()
  }

  /**
   * Checks that the files have each row once, in order, and still have all rows from before. Rows of a
   * batch that is not settled may come and go; they are counted later.
   */
  check(): void {
    const pending = this.#pending()
    const seen = new Set<string>()
    for (const name of this.#names()) {
      for (const email of this.#lines(name).flatMap(addressOf)) {
        if (seen.has(email)) this.#truth.violate(`${email} is twice in the files`)
        if (this.#gone.has(email)) this.#truth.violate(`${email} came back after a person`)
        seen.add(email)
        if (pending.includes(email) || this.#there.has(email)) continue
        this.#there.add(email)
        this.#truth.applyRow(email, noSheet, undefined)
      }
    }
    const lost = [...this.#there].find((email) => !seen.has(email) && !pending.includes(email))
    if (lost !== undefined) this.#truth.violate(`the row of ${lost} is lost`)
  }

  /** Does to a file what a person would do. Returns false when that is not possible now. */
  act(act: PersonAct): boolean {
    this.check()
    const names = this.#names()
    const name = names[this.#dice.between(0, names.length - 1)]
    if (name === undefined) return false
    const path = join(this.#folder, name)
    const [header = '', ...rows] = this.#lines(name)
    const settled = rows.filter((row) => addressOf(row).some((email) => this.#there.has(email)))
    const row = settled[this.#dice.between(0, settled.length - 1)]
    const hasPending = this.#pending().some((email) => rows.join('\n').includes(email))
    switch (act) {
      case 'protect tab':
        this.files.locked.add(path)
        return true
      case 'free tab': {
        const [locked] = this.files.locked
        return locked !== undefined && this.files.locked.delete(locked)
      }
      case 'insert rows':
        rows.splice(this.#dice.between(0, rows.length), 0, 'a note')
        return this.#save(path, [header, ...rows])
      case 'delete rows':
        if (row === undefined) return false
        this.#take(row)
        return this.#save(path, [header, ...rows.filter((other) => other !== row)])
      case 'edit address':
        if (row === undefined) return false
        this.#take(row)
        return this.#save(
          path,
          [header, ...rows].map((other) => (other === row ? `x${other}` : other)),
        )
      case 'sort tab':
        return !hasPending && this.#save(path, [header, ...rows.toSorted().toReversed()])
      case 'empty tab':
      case 'delete tab':
        if (hasPending) return false
        settled.forEach((each) => this.#take(each))
        if (act === 'delete tab') rmSync(path)
        return act === 'delete tab' || this.#save(path, this.#dice.chance(0.5) ? [header] : [])
      default:
        return false
    }
  }

  #save(path: string, lines: readonly string[]): boolean {
    writeFileSync(path, lines.map((line) => `${line}\r\n`).join(''))
    return true
  }

  #take(row: string): void {
    for (const email of addressOf(row)) {
      this.#there.delete(email)
      this.#gone.add(email)
    }
  }

  #names(): readonly string[] {
    if (!existsSync(this.#folder)) return []
    return readdirSync(this.#folder)
      .filter((name) => name.endsWith('.csv'))
      .toSorted()
  }

  /** The lines as a person's program reads them: a carriage return without its line feed ends one, too. */
  #lines(name: string): readonly string[] {
    const lines = readFileSync(join(this.#folder, name), 'utf8').split(/\r\n?/)
    return lines.at(-1) === '' ? lines.slice(0, -1) : lines
  }

  /** The addresses of the batch that the workbook still has to finish, by its record. */
  #pending(): readonly string[] {
    const intent = this.#record('intent')
    const { number } = JSON.parse(intent || '{}') as { number?: number }
    const isEnded = this.#record('settled').includes(`"number":${number},`)
    return isEnded ? [] : (intent.match(/person[\w.]+@example\.com/g) ?? [])
  }

  #record(name: 'intent' | 'settled'): string {
    const path = join(this.#folder, '.rollcall', `${name}.json`)
    return existsSync(path) ? readFileSync(path, 'utf8') : ''
  }
}

/** The address of a whole row; none for any other line. */
function addressOf(line: string): string[] {
  const cells = line.split(',')
  const [email = '', time = ''] = cells
  const isWhole = cells.length === 7 && tabs.includes(cells[6] ?? '') && timestamp.test(time)
  return isWhole && email.startsWith('person') && email.endsWith(addressEnd) ? [email] : []
}
