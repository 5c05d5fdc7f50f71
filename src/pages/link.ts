import type { FormEntries } from '../http/exchange.ts'

/** The same limits as in the embed, so that no page address makes a signup fail. */
const utmMax = 10
const utmCharactersMax = 200

/** The hidden form fields that the query of a page's address adds to the signup. */
export function linkedFields(query: URLSearchParams): FormEntries {
  const fields: [name: string, value: string][] = []
  let utms = 0
  for (const [name, value] of query) {
    const field = fieldOf(name)
    if (field === undefined || value === '') continue
    const isUtm = name.startsWith('utm_')
    if (isUtm && ++utms > utmMax) continue
    fields.push([field, isUtm ? value.slice(0, utmCharactersMax) : value])
  }
  return fields
}

/** The field for a query parameter. Other parameters are ignored, because ad networks add their own. */
function fieldOf(parameter: string): string | undefined {
  if (parameter === 'tab') return 'sheetTab'
  if (parameter === 'source' || parameter === 'tags' || parameter === 'redirect') return parameter
  const key = /^(?:field-([^[\]]+)|(utm_\w{1,40}))$/.exec(parameter)
  return key ? `metadata[${key[1] ?? key[2] ?? ''}]` : undefined
}
