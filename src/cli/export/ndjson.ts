import type { Signup } from '../../signup/signup.ts'
import type { Sink } from '../terminal/output.ts'
import type { ExportFormat } from './format.ts'

/** One JSON object a line, with the names of the signup request. */
export function ndjsonFormat(sink: Sink): ExportFormat {
  return {
    async write(page) {
      await sink.write(page.map(({ signup }) => `${JSON.stringify(toObject(signup))}\n`).join(''))
    },
    async finish() {},
  }
}

function toObject({
  id,
  receivedAt,
  email,
  source,
  name,
  tags,
  metadata,
  sheetTab,
  fields,
}: Signup) {
  return {
    id,
    email,
    timestamp: new Date(receivedAt).toISOString(),
    source,
    ...(name !== '' && { name }),
    ...(tags.length > 0 && { tags }),
    ...(metadata !== '' && { metadata: JSON.parse(metadata) as unknown }),
    sheetTab,
    ...fields,
  }
}
