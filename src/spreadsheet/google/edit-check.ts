import { type Finding, findingsOf } from '../../signup/finding.ts'
import type { Access } from './failure.ts'
import { callFinding } from './failure-finding.ts'
import { createdMarker, deletedMarkers, markerReplies } from './markers.ts'
import { createMetadata, deleteMetadata } from './requests.ts'
import type { SheetsApi } from './sheets-api.ts'

/** The metadata key of this check. It is not the key of markers, so that delivery never touches it. */
const checkKey = 'rollcall.check'

/**
 * Checks that the account may write, by one batch that makes developer metadata and deletes it again.
 * People do not see developer metadata. A batch is applied as a whole or not at all, so nothing stays
 * even when its answer is lost.
 */
export async function checkEditing(
  api: SheetsApi,
  { email }: Access,
  signal: AbortSignal,
): Promise<Finding> {
  const { ok, warning, fault } = findingsOf('editor')
  const requests = [
    createMetadata({ metadataKey: checkKey }),
    deleteMetadata({ metadataKey: checkKey }),
  ]
  const path = `:batchUpdate?fields=${encodeURIComponent(markerReplies)}`
  const body = `{"requests":[${requests.join()}]}`
  const result = await api.call({ method: 'POST', path, body }, signal)
  if (result.kind === 'refused' && result.reason === 'permission') {
    const message = `${result.message}: it is shared with ${email}, but not as Editor`
    return fault(message, result.hint)
  }
  if (result.kind !== 'ok') return callFinding('editor', result)
  if (deletedMarkers(result.body).has(createdMarker(result.body))) {
    return ok(`${email} may write`)
  }
  return warning(
    `${email} may write, but Google did not delete the developer metadata of this check`,
    'Run this command again: it deletes what is left. People do not see developer metadata.',
  )
}
