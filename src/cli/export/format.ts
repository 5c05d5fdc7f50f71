import type { SignupRecord } from '../../journal/contracts/reader.ts'

/** Writes signups in one format. */
export interface ExportFormat {
  write(page: readonly SignupRecord[]): Promise<void>
  /** Writes what belongs to the end. */
  finish(): Promise<void>
}
