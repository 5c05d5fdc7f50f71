import { makePrivateFile, NameTaken, type PrivateFile } from '../../platform/node/private-file.ts'
import { csvLine } from '../export/formats.ts'
import { type FileRecord, rejectedColumns } from './file-record.ts'

/** One more name is tried for each earlier run. */
const namesMax = 1_000

/**
 * The records that were not imported, as CSV: their cells, their rows and the reasons. It is made with the
 * first record, so that there is none without.
 */
export class RejectedFile {
  readonly #imported: string
  readonly #names: readonly string[]
  #made: { readonly path: string; readonly file: PrivateFile } | undefined
  #lines: string[] = []

  /** @param imported path of the imported file @param names the names of the records' cells */
  constructor(imported: string, names: readonly string[]) {
    this.#imported = imported
    this.#names = names
  }

  /** Undefined while no record was rejected. */
  get path(): string | undefined {
    return this.#made?.path
  }

  add({ row, cells }: FileRecord, reason: string): void {
    // Records may have fewer cells than the header row, or more.
    const shown = this.#names.map((_, at) => cells[at] ?? '')
    this.#lines.push(csvLine([...shown, String(row), reason]))
  }

  async flush(): Promise<void> {
    if (this.#lines.length === 0) return
    this.#made ??= await this.#make()
    const lines = this.#lines
    this.#lines = []
    await this.#made.file.write(lines.join(''))
  }

  /** Writes the rest and keeps the file, if there is one. */
  async finish(): Promise<void> {
    await this.flush()
    await this.#made?.file.finish()
  }

  /** Takes the first free name: a file of an earlier run stays as it is. */
  async #make() {
    for (let number = 1; ; number++) {
      const path = `${this.#imported}.rejected${number === 1 ? '' : `-${number}`}.csv`
      try {
        const file = await makePrivateFile(path)
        await file.write(csvLine([...this.#names, ...rejectedColumns]))
        return { path, file }
      } catch (error) {
        if (!(error instanceof NameTaken) || number === namesMax) throw error
      }
    }
  }
}
