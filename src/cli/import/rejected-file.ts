import { makePrivateFile, NameTaken, type PrivateFile } from '../../platform/node/private-file.ts'
import { csvLine } from '../../operations/export.ts'
import { type FileRecord, rejectedColumns } from './records.ts'

/**
 * The records that were not imported, as CSV: their cells, their rows and the reasons. It is made with the
 * first record, so that there is none without.
 */
export class RejectedFile {
  /** Undefined while no record was rejected. */
  path: string | undefined
  readonly #imported: string
  readonly #head: string
  #file: PrivateFile | undefined
  #lines = ''

  /** @param imported path of the imported file @param names the names of the records' cells */
  constructor(imported: string, names: readonly string[]) {
    this.#imported = imported
    this.#head = csvLine([...names, ...rejectedColumns])
  }

  add({ row, cells }: FileRecord, reason: string): void {
    this.#lines += csvLine([...cells, String(row), reason])
  }

  async flush(): Promise<void> {
    if (this.#lines === '') return
    const lines = this.#file ? this.#lines : this.#head + this.#lines
    this.#lines = ''
    this.#file ??= await this.#make()
    await this.#file.write(lines)
  }

  /** Writes the rest and keeps the file, if there is one. */
  async finish(): Promise<void> {
    await this.flush()
    await this.#file?.finish()
  }

  /** Takes the first free name: a file of an earlier run stays as it is. */
  async #make(): Promise<PrivateFile> {
    for (let number = 1; ; number++) {
      const path = `${this.#imported}.rejected${number === 1 ? '' : `-${number}`}.csv`
      try {
        const file = await makePrivateFile(path)
        this.path = path
        return file
      } catch (error) {
        if (!(error instanceof NameTaken)) throw error
      }
    }
  }
}
