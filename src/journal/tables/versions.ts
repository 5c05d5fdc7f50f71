import { rollcall } from '../../platform/command-words.ts'

/** The version of the tables of 0.3.0, the first release. 0.1.0 had 6, 0.2.0 had 7. */
const firstVersion = 9

/**
 * What brings the tables of each version to the next one, from the first release on. PostgreSQL runs a step in
 * full again when it was stopped in it.
 */
const steps: readonly { readonly sqlite: string; readonly postgres: string }[] = []

/** Increases with each change of the tables that a release has. */
export const layoutVersion = firstVersion + steps.length

/** The steps that a journal of this version needs. */
export const stepsFrom = (version: number): typeof steps => steps.slice(version - firstVersion)

/** What is wrong with the version of a journal, and what to do about it: sentences without their full stops. */
interface OtherVersion {
  readonly why: string
  readonly hint: string
}

/** Undefined when a journal of this version can be used. */
export function otherVersion(
  version: number,
  { mayMigrate, elsewhere }: { readonly mayMigrate: boolean; readonly elsewhere: string },
): OtherVersion | undefined {
  if (version > layoutVersion) {
    const numbers = `its tables have version ${version}, this one knows ${layoutVersion}`
    const hint = `Start the newer version, or give another ${elsewhere}`
    return { why: `it was made by a newer version of Rollcall (${numbers})`, hint }
  }
  if (version < firstVersion) {
    const why = 'it was made by a version of Rollcall before 0.3.0, which this one cannot read'
    const hint =
      `Export its signups with that version, give another ${elsewhere} and a new spreadsheet, and bring them ` +
      `there with "${rollcall('import')}" of this one`
    return { why, hint }
  }
  if (version === layoutVersion || mayMigrate) return undefined
  const hint = 'Start the service once with this version, which brings it up to date'
  return { why: 'it was made by an older version of Rollcall', hint }
}
