import type { DurableFiles } from '../../../src/platform/node/durable-file.ts'
import type { Spreadsheet } from '../../../src/spreadsheet/spreadsheet.ts'
import { changed } from '../../../harness/changed.ts'
import { type Life, never } from '../life.ts'
import type { ProcessOptions } from './process-options.ts'
import type { SimulatedWorkbook } from './simulated-workbook.ts'

/** The files of the workbook, as one process sees them. */
export function filesOf(
  { files }: SimulatedWorkbook,
  { flaw, isDiskFull, isFaulty, dice, schedule, note }: ProcessOptions,
  life: Life,
): DurableFiles {
  const ours = files.of({
    diesAt: (step) => life.diesAt(step),
    failsAt: (step) => {
      if (isDiskFull()) return 'ENOSPC'
      if (!isFaulty() || !dice.chance(schedule.chance.journal)) return undefined
      note('file fails', step)
      return 'EIO'
    },
  })
  return flaw.files?.(ours) ?? ours
}

/** The same workbook. Its reads take turns of the event loop, but no simulated time. */
export function inNoTime(
  workbook: Spreadsheet,
  { time }: Pick<ProcessOptions, 'time'>,
  life: Life,
): Spreadsheet {
  const timeless =
    <V extends unknown[], R>(work: (...values: V) => Promise<R>) =>
    async (...values: V): Promise<R> => {
      const result = await time.standStill(() => Promise.race([work(...values), life.death]))
      return result === undefined || !life.isAlive ? never() : result
    }
  return changed(workbook, {
    open: timeless((...values) => workbook.open(...values)),
    write: timeless((...values) => workbook.write(...values)),
    abandon: timeless((...values) => workbook.abandon(...values)),
    prune: timeless((...values) => workbook.prune(...values)),
  })
}

/** The same spreadsheet with other limits, which are reached sooner. */
export function withLimits(
  spreadsheet: Spreadsheet,
  { markersMax, rowsMax, bytesMax }: ProcessOptions['schedule'],
): Spreadsheet {
  const { profile } = spreadsheet
  const max = Math.min(profile.markers.max, profile.hasQuota ? markersMax : Infinity)
  const markers = { ...profile.markers, max }
  return changed(spreadsheet, { profile: { ...profile, rowsMax, bytesMax, markers } })
}
