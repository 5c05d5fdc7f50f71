import { access, constants } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { FrozenBatch } from '../../signup/batch.ts'
import { noColumns, type OwnColumn } from '../../signup/row.ts'
import type { Warning } from '../../signup/trouble.ts'
import { type DurableFiles, durableFiles } from '../../platform/node/durable-file.ts'
import type {
  Abandoned,
  Applied,
  Failed,
  Finished,
  Opened,
  Outcome,
  Pruned,
  Refused,
  Removal,
  Retryable,
  RowReader,
  RowToRemove,
  Spreadsheet,
  Unknown,
} from '../spreadsheet.ts'
import { headerProblem } from '../header.ts'
import { failureOf, naming, whereIs } from './failure.ts'
import { growHeader } from './header-row.ts'
import { workbookProfile } from './profile.ts'
import { WorkbookRowReader } from './row-reader.ts'
import { type Addition, BatchRecord, type Intent, isSame } from './record.ts'
import { removeRows } from './row-removal.ts'
import {
  canUndo,
  finish,
  planAddition,
  planRemainder,
  type Standing,
  standingOf,
  tabFileName,
  undo,
} from './tab-file.ts'
import { type Folder, removeHalfWritten } from './whole-file.ts'

/**
 * A folder with one CSV file for each tab, made when missing. `own` are the columns of the site's own;
 * `files` lets tests make the disk fail.
 */
export function createWorkbook(
  {
    directory,
    own = noColumns,
  }: { readonly directory: string; readonly own?: readonly OwnColumn[] },
  files: DurableFiles = durableFiles,
): Spreadsheet {
  return new Workbook(resolve(directory), own, files)
}

interface Step {
  readonly addition: Addition
  readonly standing: Standing
}

/**
 * Writes a batch in four phases: 1 examine the files, 2 put the intent on disk, 3 append, 4 settle.
 * After a crash the intent is still there, and the next `write` of the batch examines how far it came
 * and finishes it. Our bytes at the recorded place are the proof. If a person has changed the file
 * since, nothing is cut off, not even half a row: the file is read, and our missing rows are appended
 * with a new intent. A deleted or renamed file is made again. A failure in phase 2 or 3 is undone; if
 * that fails, the outcome is unknown and the intent stays.
 *
 * Every call reads its state from disk, so a new instance knows the same as the last one. A signal
 * does not stop a call, because every call is bounded and local.
 */
class Workbook implements Spreadsheet {
  readonly location: string
  readonly profile = workbookProfile
  readonly #warnings = new Map<string, Warning>()
  readonly #own: readonly OwnColumn[]
  readonly #folder: Folder
  readonly #record: BatchRecord
  /** The call before. It never rejects. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(directory: string, own: readonly OwnColumn[], files: DurableFiles) {
    this.location = directory
    this.#own = own
    this.#folder = { directory, files }
    this.#record = new BatchRecord(directory, files)
  }

  get warnings(): readonly Warning[] {
    return [...this.#warnings.values()]
  }

  open(): Promise<Opened> {
    return this.#inTurn(async () => {
      await access(this.location, constants.R_OK | constants.W_OK | constants.X_OK)
      // Sync again, as a crash may have come after the folder was made and before its sync.
      await this.#folder.files.syncDirectory(this.location)
      await this.#folder.files.syncDirectory(dirname(this.location))
      // Deletes an intent left by a crash after its batch was settled, because it contains addresses.
      await this.#record.pending()
      await removeHalfWritten(this.#folder)
      return { kind: 'open' }
    })
  }

  write(batch: FrozenBatch): Promise<Outcome> {
    return this.#inTurn<Outcome>(async () => {
      const standing = await this.#record.standingOf(batch)
      if (standing !== 'new') return { kind: standing }

      const pending = await this.#record.pending()
      if (pending && isSame(pending, batch)) return this.#carryOut(pending)
      if (pending) {
        const earlier = await this.#guard(() => this.#finishEarlier())
        if (earlier.kind !== 'finished') return earlier
      }
      const { number, fingerprint } = batch
      for (const { tab, signups } of batch.tabs) if (signups.length > 0) await this.#growHeader(tab)
      const plan = (tab: FrozenBatch['tabs'][number]) => planAddition(this.location, tab, this.#own)
      const planned = await Array.fromAsync(batch.tabs, plan)
      // A tab without rows gets no new file; an existing file is synced as usual.
      const additions = planned.filter(({ creates, rows }) => rows.length > 0 || !creates)
      for (const addition of additions) await this.#warn(addition)
      return this.#carryOut({ number, fingerprint, additions })
    })
  }

  abandon(batch: FrozenBatch): Promise<Abandoned> {
    return this.#inTurn<Abandoned>(async () => {
      const standing = await this.#record.standingOf(batch)
      if (standing !== 'new') return { kind: standing }

      const pending = await this.#record.pending()
      const isPending = pending !== undefined && isSame(pending, batch)
      if (isPending) {
        const steps = await this.#examine(pending)
        const isApplied = steps.every(({ standing }) => standing.kind === 'whole')
        // Rows are not removed from a file that a person has changed. Then write the whole batch.
        const canBeUndone = steps.every(({ addition, standing }) => canUndo(addition, standing))
        if (isApplied || !canBeUndone) return this.#carryOut(pending)
        await this.#undo(steps)
      }
      await this.#record.abandon(batch)
      if (isPending) await this.#record.withdraw()
      return { kind: 'abandoned' }
    })
  }

  prune(markers: readonly number[]): Promise<Pruned> {
    return this.#inTurn(async () => {
      await this.#record.forgetAbandoned(markers)
      return { kind: 'pruned', others: [] }
    })
  }

  finishEarlier(): Promise<Finished> {
    return this.#inTurn<Finished>(() => this.#finishEarlier())
  }

  /** Finishes an intent, because nobody else has its rows. */
  async #finishEarlier(): Promise<Finished> {
    const pending = await this.#record.pending()
    if (!pending) return { kind: 'finished' }
    const outcome = await this.#guard(() => this.#carryOut(pending))
    return outcome.kind === 'applied' ? { kind: 'finished' } : ofNoTab(outcome)
  }

  rowReader(): RowReader {
    return new WorkbookRowReader(this.location)
  }

  remove(rows: readonly RowToRemove[]): Promise<Removal> {
    return this.#inTurn<Removal>(async () => {
      // Its rows may be in the files or not, and the intent has them, too.
      if (await this.#record.pending()) {
        return { kind: 'retryable', message: 'A batch of the workbook is not finished' }
      }
      return removeRows(this.#folder, rows)
    })
  }

  async #growHeader(tab: string): Promise<void> {
    const fileName = await tabFileName(this.location, tab)
    await naming(this.location, { tab, fileName }, () =>
      growHeader(this.#folder, fileName, this.#own),
    )
  }

  async #warn({ fileName, header, own }: Addition): Promise<void> {
    const problem = headerProblem(header, own)
    if (problem === undefined) return void this.#warnings.delete(fileName)
    const place = await whereIs(this.location, fileName)
    const message = `In the folder ${this.location}, ${place} (ls -i shows it) ${problem}`
    this.#warnings.set(fileName, { kind: 'columns', message })
  }

  async #carryOut(intent: Intent): Promise<Applied | Failed> {
    const steps = await Array.fromAsync(await this.#examine(intent), (step) => this.#replan(step))
    const plan = { ...intent, additions: steps.map(({ addition }) => addition) }
    try {
      await this.#record.intend(plan)
      for (const { addition, standing } of steps) await finish(this.#folder, addition, standing)
      // A person's program may have put another file in the place of ours.
      await this.#folder.files.syncDirectory(this.location)
    } catch (error) {
      return this.#takeBack(plan, error)
    }
    return this.#settle(plan)
  }

  #examine(intent: Intent): Promise<Step[]> {
    return Array.fromAsync(intent.additions, async (addition) => ({
      addition,
      standing: await standingOf(this.location, addition),
    }))
  }

  async #replan(step: Step): Promise<Step> {
    if (step.standing.kind !== 'changed') return step
    const addition = await planRemainder(this.location, step.addition, step.standing)
    return { addition, standing: { kind: 'none' } }
  }

  async #takeBack(plan: Intent, reason: unknown): Promise<Failed> {
    try {
      const steps = await this.#examine(plan)
      if (!steps.every(({ addition, standing }) => canUndo(addition, standing))) {
        return this.#unknown(reason)
      }
      await this.#undo(steps)
      await this.#record.withdraw()
    } catch (error) {
      return this.#unknown(error, reason)
    }
    return failureOf(reason, this.location)
  }

  async #undo(steps: readonly Step[]): Promise<void> {
    for (const { addition, standing } of steps) await undo(this.#folder, addition, standing)
  }

  /** Settles a batch whose rows are all written. If that fails, only another attempt can tell the outcome. */
  async #settle(plan: Intent): Promise<Applied | Unknown> {
    try {
      await this.#record.settle(plan)
      await this.#record.withdraw()
    } catch (error) {
      return this.#unknown(error)
    }
    return { kind: 'applied' }
  }

  #unknown(error: unknown, cause = error): Unknown {
    return { kind: 'unknown', message: failureOf(error, this.location).message, cause }
  }

  /** One call at a time: a removal replaces files to which a batch appends. */
  #inTurn<T>(action: () => Promise<T>): Promise<T | Refused | Retryable> {
    const result = this.#last.then(() => this.#guard(action))
    this.#last = result.catch(() => undefined)
    return result
  }

  async #guard<T>(action: () => Promise<T>): Promise<T | Refused | Retryable> {
    try {
      await this.#record.prepare()
      return await action()
    } catch (error) {
      return failureOf(error, this.location)
    }
  }
}

/** Removes the tab from a refusal of an earlier batch, because it means nothing for the current one. */
function ofNoTab(outcome: Failed): Failed {
  if (outcome.kind !== 'refused') return outcome
  const { tab: _, ...whole } = outcome
  return whole
}
