import type { FormEntries } from '../http/exchange.ts'

/** As in the embed: an address can hold anything, and must not cost a signup. */
const utmMax = 10
const utmCharactersMax = 200

/** What the address of a page has sent along unseen with the signup, as fields of a form. */
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

/** Any other parameter is nobody's: ad networks append their own. */
function fieldOf(parameter: string): string | undefined {
  if (parameter === 'tab') return 'sheetTab'
  if (parameter === 'source' || parameter === 'tags' || parameter === 'redirect') return parameter
  const key = /^(?:field-([^[\]]+)|(utm_\w{1,40}))$/.exec(parameter)
  return key ? `metadata[${key[1] ?? key[2] ?? ''}]` : undefined
}
