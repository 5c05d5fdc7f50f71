import type { sheets_v4 } from '@googleapis/sheets'
import { invalidArgument, protectedCell } from '../api-error.ts'
import { assertEditable, handler, mayEdit, randomId, sheetById, updateMask } from '../batch.ts'
import { mergeFields } from '../field-mask.ts'
import { boxOf } from '../grid-range.ts'
import { renderNamedRange, renderProtectedRange } from '../render.ts'
import { namedRange, protectedRange } from '../schema-types.ts'
import { unpackCell, packCell } from '../cell.ts'
import { writeBox } from '../sheet.ts'

const addNamedRange = handler('addNamedRange', (batch, request) => {
  const { spreadsheet, tx, options } = batch
  const given = request.namedRange ?? {}
  const range = given.range ?? {}
  sheetById(batch, range.sheetId)
  const added = {
    namedRangeId: given.namedRangeId ?? String(randomId(options)),
    name: given.name ?? '',
    range,
  }
  if (!/^[\p{L}_][\p{L}\p{N}_.]*$/u.test(added.name)) {
    throw invalidArgument('The name of the named range is invalid.')
  }
  const { namedRanges } = spreadsheet
  if (namedRanges.some(({ namedRangeId }) => namedRangeId === added.namedRangeId)) {
    throw invalidArgument(`A named range with ID: ${added.namedRangeId} already exists.`)
  }
  if (namedRanges.some(({ name }) => name?.toLowerCase() === added.name.toLowerCase())) {
    throw invalidArgument(`A named range with the name "${added.name}" already exists.`)
  }
  tx.assign(spreadsheet, 'namedRanges', [...namedRanges, added])
  return { addNamedRange: { namedRange: renderNamedRange(added) } }
})

const updateNamedRange = handler('updateNamedRange', ({ spreadsheet, tx }, request) => {
  const given = request.namedRange ?? {}
  const mask = updateMask(request.fields, namedRange)
  const index = indexOfNamedRange(spreadsheet.namedRanges, given.namedRangeId)
  const before = spreadsheet.namedRanges[index] ?? {}
  const updated = spreadsheet.namedRanges.with(index, mergeFields(before, given, mask))
  tx.assign(spreadsheet, 'namedRanges', updated)
})

const deleteNamedRange = handler('deleteNamedRange', ({ spreadsheet, tx }, request) => {
  const index = indexOfNamedRange(spreadsheet.namedRanges, request.namedRangeId)
  tx.assign(spreadsheet, 'namedRanges', spreadsheet.namedRanges.toSpliced(index, 1))
})

function indexOfNamedRange(
  namedRanges: readonly sheets_v4.Schema$NamedRange[],
  id: string | null | undefined,
): number {
  const index = namedRanges.findIndex(({ namedRangeId }) => namedRangeId === id)
  if (index < 0) throw invalidArgument(`No named range with ID: ${id ?? ''}`)
  return index
}

/** Without `editors` everyone who may edit now is added, so that it stops nobody. */
const addProtectedRange = handler('addProtectedRange', (batch, request) => {
  const { spreadsheet, tx, caller, options } = batch
  const given = request.protectedRange ?? {}
  const named = spreadsheet.namedRanges.find(
    ({ namedRangeId }) => given.namedRangeId && namedRangeId === given.namedRangeId,
  )
  const range = given.range ?? named?.range ?? {}
  const sheet = sheetById(batch, range.sheetId, 'sheet')
  const protectedRangeId = given.protectedRangeId ?? randomId(options)
  const all = spreadsheet.sheets.flatMap((each) => each.protectedRanges)
  if (all.some((other) => other.protectedRangeId === protectedRangeId)) {
    throw invalidArgument(`A protected range with ID: ${protectedRangeId} already exists.`)
  }
  const editors = [...spreadsheet.sharedWith].flatMap(([email, role]) =>
    role === 'viewer' ? [] : [email],
  )
  const users = given.editors ? [...(given.editors.users ?? [])] : editors
  const role = spreadsheet.sharedWith.get(caller.email)
  // Nobody can lock himself out; the owner needs no entry.
  if (role !== 'owner' && !users.includes(caller.email)) users.push(caller.email)
  const protection = { ...given, protectedRangeId, range, editors: { users } }
  tx.assign(sheet, 'protectedRanges', [...sheet.protectedRanges, protection])
  const rendered = renderProtectedRange(protection, spreadsheet, caller)
  return { addProtectedRange: { protectedRange: rendered } }
})

const updateProtectedRange = handler('updateProtectedRange', (batch, request) => {
  const given = request.protectedRange ?? {}
  const mask = updateMask(request.fields, protectedRange)
  for (const sheet of batch.spreadsheet.sheets) {
    const index = indexOfProtection(sheet.protectedRanges, given.protectedRangeId)
    const before = sheet.protectedRanges[index]
    if (!before) continue
    if (!mayEdit(before, batch.spreadsheet, batch.caller)) throw protectedCell()
    const updated = sheet.protectedRanges.with(index, mergeFields(before, given, mask))
    batch.tx.assign(sheet, 'protectedRanges', updated)
    return
  }
  throw noProtection(given.protectedRangeId)
})

const deleteProtectedRange = handler('deleteProtectedRange', (batch, { protectedRangeId }) => {
  for (const sheet of batch.spreadsheet.sheets) {
    const index = indexOfProtection(sheet.protectedRanges, protectedRangeId)
    const protection = sheet.protectedRanges[index]
    if (!protection) continue
    if (!mayEdit(protection, batch.spreadsheet, batch.caller)) throw protectedCell()
    batch.tx.assign(sheet, 'protectedRanges', sheet.protectedRanges.toSpliced(index, 1))
    return
  }
  throw noProtection(protectedRangeId)
})

function indexOfProtection(
  ranges: readonly sheets_v4.Schema$ProtectedRange[],
  id: number | null | undefined,
): number {
  return ranges.findIndex(({ protectedRangeId }) => protectedRangeId === id)
}

function noProtection(id: number | null | undefined): Error {
  return invalidArgument(`No protected range with ID: ${id ?? 0}`)
}

const setBasicFilter = handler('setBasicFilter', (batch, { filter = {} }) => {
  const sheet = sheetById(batch, filter.range?.sheetId)
  batch.tx.assign(sheet, 'basicFilter', filter)
})

const clearBasicFilter = handler('clearBasicFilter', (batch, { sheetId }) => {
  batch.tx.assign(sheetById(batch, sheetId), 'basicFilter', undefined)
})

/** Merges are remembered; the cells that they hide keep their values. */
const mergeCells = handler('mergeCells', (batch, { range = {} }) => {
  const sheet = sheetById(batch, range.sheetId)
  assertEditable(batch, sheet, boxOf(range, sheet.grid))
  batch.tx.assign(sheet, 'merges', [...sheet.merges, range])
})

const unmergeCells = handler('unmergeCells', (batch, { range = {} }) => {
  const sheet = sheetById(batch, range.sheetId)
  const box = JSON.stringify(boxOf(range, sheet.grid))
  const left = sheet.merges.filter((merge) => JSON.stringify(boxOf(merge, sheet.grid)) !== box)
  batch.tx.assign(sheet, 'merges', left)
})

/** The rule is kept with the cells and not enforced. */
const setDataValidation = handler('setDataValidation', (batch, { range = {}, rule }) => {
  const sheet = sheetById(batch, range.sheetId)
  const box = boxOf(range, sheet.grid)
  assertEditable(batch, sheet, box)
  writeBox(batch.tx, sheet, box, (cell) => {
    const { dataValidation: _, ...data } = unpackCell(cell)
    return packCell(rule ? { ...data, dataValidation: rule } : data)
  })
})

const updateBorders = handler('updateBorders', (batch, { range = {} }) => {
  const sheet = sheetById(batch, range.sheetId)
  assertEditable(batch, sheet, boxOf(range, sheet.grid))
})

export const rangeRequests = [
  addNamedRange,
  updateNamedRange,
  deleteNamedRange,
  addProtectedRange,
  updateProtectedRange,
  deleteProtectedRange,
  setBasicFilter,
  clearBasicFilter,
  mergeCells,
  unmergeCells,
  setDataValidation,
  updateBorders,
]
