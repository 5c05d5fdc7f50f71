import type { Step } from './database.ts'
import { joinSignupAt } from './rows.ts'
import { statementsOf } from './statement.ts'

/** Erasures that are part of a larger transaction, which holds the lock of the site. */

// The forgotten signups of the batch $1 that still have their cells.
const held = `
  SELECT removal.position, removal.position <= coalesce(progress.written_to, 0) AS is_written
  FROM rollcall.removal
  ${joinSignupAt('removal.position')}
  LEFT JOIN rollcall.progress ON progress.tab = signup.tab
  WHERE signup.email <> '' AND (EXISTS (
    SELECT 1 FROM rollcall.batch_range
    WHERE batch = $1 AND batch_range.tab = signup.tab
      AND removal.position > after AND removal.position <= upto
  ) OR EXISTS (
    SELECT 1 FROM rollcall.redelivery
    WHERE batch = $1 AND redelivery.position = removal.position))`

/** What an erased signup has in its cells. */
export const erasedCells = `email = '', source = '', name = '', tags = '', metadata = '', fields = ''`

const sql = statementsOf('erase', {
  written: `
    WITH held AS (${held})
    UPDATE rollcall.signup
    SET ${erasedCells}, is_ignored = CASE WHEN is_ignored = 0 THEN 0 ELSE 1 END
    FROM held WHERE signup.position = held.position`,
  // A signup that was to be delivered once more may have a row.
  released: `
    WITH held AS (${held}),
    erased AS (
      UPDATE rollcall.signup
      SET ${erasedCells},
        is_ignored = CASE WHEN is_ignored = 0 AND held.is_written THEN 0 ELSE 1 END
      FROM held WHERE signup.position = held.position)
    DELETE FROM rollcall.removal
    WHERE position IN (SELECT position FROM held WHERE NOT is_written)`,
})

/** Erases the forgotten signups of a batch that was settled. Their rows have to be removed. */
export function eraseWritten(batch: number): Step {
  return [sql.written, batch]
}

/**
 * Erases the forgotten signups of a batch that was released. They get no row by it. To run while the
 * batch still has its ranges.
 */
export function eraseReleased(batch: number): Step {
  return [sql.released, batch]
}
