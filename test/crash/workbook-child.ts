// Writes batches into the workbook of a folder until it is killed, and prints the number of each one
// that is applied. Arguments: the folder, the number of the first batch.
import { writeSync } from 'node:fs'
import { argv, stdout } from 'node:process'
import { createWorkbook } from '../../src/spreadsheet/workbook/workbook.ts'
import { numberedBatch } from '../../harness/numbered-batch.ts'

const [, , directory = '', first = '1'] = argv
const workbook = createWorkbook({ directory })
const { signal } = new AbortController()

for (let number = Number(first); ; number += 1) {
  const outcome = await workbook.write(numberedBatch(number), signal)
  if (outcome.kind !== 'applied') throw new Error(`Writing batch ${number}: ${outcome.kind}`)
  // Synchronous, so that the line is out before a kill, as a commit of the journal is on disk.
  writeSync(stdout.fd, `${number}\n`)
}
