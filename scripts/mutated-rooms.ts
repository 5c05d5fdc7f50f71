/** A room whose code `npm run mutate` changes, and the tests that have to notice. */
export interface Room {
  readonly sources: readonly string[]
  /** They run the sources in their own process: a process that they start runs unchanged sources. */
  readonly tests: readonly string[]
}

/** Tests beside the sources come with every room. */
const rooms: Readonly<Record<string, readonly string[]>> = {
  // All rooms use it.
  signup: ['src/{api,challenge,delivery,intake,operations,ops,pages,spreadsheet}/**/*.test.ts'],
  delivery: ['test/delivery/*.test.ts', 'test/simulation/short.mutate.ts'],
  journal: [
    'test/journal/{sqlite,sqlite-instances.slow,sqlite-file,sites,beside,copy,erasure-files,restored.slow,whole-journal}.test.ts',
    'test/service/move-journal.slow.test.ts',
  ],
  // Half of what the tables do shows on PostgreSQL only: locks, clocks, and what others have committed.
  'journal/tables': [
    'test/journal/{sqlite,sites,beside,restored.slow}.test.ts',
    'test/journal/postgres-{all,clocks,locks,together}.slow.test.ts',
  ],
  'journal/postgres': [
    'test/journal/postgres-{all,beside,clocks,lease,locks,server-facts,together}.slow.test.ts',
    'test/faults/postgres-*.slow.test.ts',
    'test/service/move-journal.slow.test.ts',
  ],
  spreadsheet: ['test/spreadsheet/*.test.ts', 'test/crash/workbook.mutate.ts'],
  operations: ['test/journal/{sqlite,sites}.test.ts', 'test/delivery/after-restore.test.ts'],
  http: ['test/http/{cors,edge,hosts,over-tcp,rate-limit}.test.ts'],
}

export const roomNames = Object.keys(rooms)

/** @throws Error when there is no such room */
export function roomOf(name: string | undefined): Room {
  const tests = rooms[name ?? '']
  if (!tests)
    throw new Error(`There is no room ${name}. Name one of these: ${roomNames.join(', ')}.`)
  const units = `src/${name}/**/*.test.ts`
  const inner = roomNames.filter((other) => other.startsWith(`${name}/`))
  const without = [units, ...inner.map((other) => `src/${other}/**`)].map((glob) => `!${glob}`)
  return { sources: [`src/${name}/**/*.ts`, ...without], tests: [units, ...tests] }
}
