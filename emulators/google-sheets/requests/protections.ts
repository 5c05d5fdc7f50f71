import { notEmulated } from '../api-error.ts'
import { handler, randomId, sheetById } from '../batch.ts'
import { renderProtectedRange } from '../render.ts'

/** Without `editors`, Google adds everybody who may edit now, so that the protection stops nobody. */
const addProtectedRange = handler('addProtectedRange', (batch, request) => {
  const { spreadsheet, tx, caller, options } = batch
  const { range = {}, editors, warningOnly } = request.protectedRange ?? {}
  if (warningOnly) throw notEmulated('protections that only warn')
  const sheet = sheetById(batch, range.sheetId, 'sheet')
  const all = [...spreadsheet.sharedWith].filter(([, role]) => role !== 'viewer')
  const users = new Set(editors ? editors.users : all.map(([email]) => email))
  // Nobody can lock himself out. The owner needs no entry.
  if (spreadsheet.sharedWith.get(caller.email) !== 'owner') users.add(caller.email)
  const protection = { id: randomId(options), range, users }
  tx.assign(sheet, 'protections', [...sheet.protections, protection])
  const protectedRange = renderProtectedRange(protection, spreadsheet, caller)
  return { addProtectedRange: { protectedRange } }
})

export const protectionRequests = [addProtectedRange]
