import { invalidArgument, protectedCell } from '../api-error.ts'
import { handler, mayEdit, randomId, sheetById } from '../batch.ts'
import { renderProtectedRange } from '../render.ts'

/** Without `editors` everyone who may edit now is added, so that it stops nobody. */
const addProtectedRange = handler('addProtectedRange', (batch, request) => {
  const { spreadsheet, tx, caller, options } = batch
  const given = request.protectedRange ?? {}
  const range = given.range ?? {}
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

const deleteProtectedRange = handler('deleteProtectedRange', (batch, { protectedRangeId }) => {
  for (const sheet of batch.spreadsheet.sheets) {
    const { protectedRanges } = sheet
    const protection = protectedRanges.find((one) => one.protectedRangeId === protectedRangeId)
    if (!protection) continue
    if (!mayEdit(protection, batch.spreadsheet, batch.caller)) throw protectedCell()
    const others = protectedRanges.filter((one) => one !== protection)
    batch.tx.assign(sheet, 'protectedRanges', others)
    return
  }
  throw invalidArgument(`No protected range with ID: ${protectedRangeId ?? 0}`)
})

export const protectionRequests = [addProtectedRange, deleteProtectedRange]
