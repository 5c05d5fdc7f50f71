/** A timestamp that cannot be read. */
export const noTime = -1

/** Rows of a spreadsheet, and signups that have none of them. */
export const tables = `
  -- How often a row is in a tab, and how many signups were found for it: -1 when it was edited.
  CREATE TABLE tab_row (
    time INTEGER NOT NULL, email INTEGER NOT NULL, tab INTEGER NOT NULL,
    seen INTEGER NOT NULL, used INTEGER NOT NULL, PRIMARY KEY (time, email, tab)
  ) STRICT, WITHOUT ROWID;
  -- Signups whose row was not found at first, by what is known of them.
  CREATE TABLE rowless (
    position INTEGER PRIMARY KEY, kind TEXT NOT NULL, time INTEGER NOT NULL, email INTEGER NOT NULL,
    tab INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX rowless_by_kind ON rowless (kind, position)`

/** Takes one row of these for a signup. */
function taking(used: string, rows: string): string {
  return `UPDATE tab_row SET used = ${used} WHERE (time, email, tab) = (
            SELECT time, email, tab FROM tab_row WHERE ${rows} LIMIT 1)`
}

export const statements = {
  note: `INSERT INTO tab_row VALUES (?, ?, ?, 1, 0)
         ON CONFLICT (time, email, tab) DO UPDATE SET seen = seen + 1`,
  // Of its own tab first.
  take: taking('used + 1', 'time = ? AND email = ? AND used < seen ORDER BY tab = ? DESC'),
  takeOfTime: taking('-1', 'time = ? AND used = 0'),
  takeOfEmail: taking('-1', `email = ? AND used = 0 AND (time = ${noTime} OR NOT ?)`),
  addRowless: 'INSERT INTO rowless VALUES (?, ?, ?, ?, ?)',
  rowless: `SELECT position, time, email, tab FROM rowless
            WHERE kind = ? AND position > ? ORDER BY position LIMIT ?`,
  setKind: 'UPDATE rowless SET kind = ? WHERE position = ?',
  doubles: `SELECT time, tab, seen - used AS extra FROM tab_row
            WHERE used > 0 AND seen > used ORDER BY time LIMIT ?`,
  sums: `SELECT missing, edited, elsewhere, waiting, rows, double, others
         FROM (
           SELECT coalesce(sum(seen), 0) AS rows,
             coalesce(sum(seen - used) FILTER (WHERE used > 0), 0) AS double,
             coalesce(sum(seen) FILTER (WHERE used <= 0), 0) AS others
           FROM tab_row
         ), (
           SELECT count(*) FILTER (WHERE kind = 'missing') AS missing,
             count(*) FILTER (WHERE kind = 'edited') AS edited,
             count(*) FILTER (WHERE kind = 'elsewhere') AS elsewhere,
             count(*) FILTER (WHERE kind IN ('waiting', 'arrived')) AS waiting
           FROM rowless
         )`,
} as const
