import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'

/** The rows of a tab's file, header row included; none when there is no such file. */
export function readTab(dataDir: string, file: string): string[][] {
  const path = join(dataDir, 'sheets', file)
  if (!existsSync(path)) return []
  return parse(readFileSync(path), { relax_column_count: true })
}

/** The addresses in a tab's file, in the order of its rows. */
export function addressesIn(dataDir: string, file = 'Sheet1.csv'): (string | undefined)[] {
  return readTab(dataDir, file)
    .slice(1)
    .map(([email]) => email)
}
