import type { FormEntries } from '../http/exchange.ts'
import type { Field } from '../signup/field.ts'
import { collectedText, pageAddress } from '../signup/field-control.ts'

/**
 * The form fields that the query of a page's address fills in: declared fields, and hidden ones.
 *
 * @param declared the fields of the site
 * @param cameFrom the address of the page that led here, as the browser tells it
 */
export function linkedFields(
  query: URLSearchParams,
  declared: readonly Field[],
  cameFrom: string | null,
): FormEntries {
  const fields: [name: string, value: string][] = []
  for (const [name, value] of query) {
    if (value === '') continue
    const own = declaredField(name, declared)
    if (own) {
      const isThere = fields.some(([known]) => known === own.name)
      if (!isThere || own.type === 'choices')
        fields.push([own.name, collectedText(own, value) ?? value])
      continue
    }
    const field = fieldOf(name)
    if (field !== undefined) fields.push([field, value])
  }
  const hasReferrer = fields.some(([field]) => field === 'referrer')
  return hasReferrer ? fields : [...fields, ...referrerOf(declared, cameFrom)]
}

/** The declared field that a query parameter fills in: `field-NAME`, or `utm_…` under its own name. */
function declaredField(parameter: string, declared: readonly Field[]): Field | undefined {
  const name = parameter.startsWith('utm_') ? parameter : /^field-(.*)$/.exec(parameter)?.[1]
  return declared.find((field) => field.name === name)
}

function referrerOf(declared: readonly Field[], cameFrom: string | null): FormEntries {
  const field = declared.find(({ name }) => name === 'referrer')
  const text = field && collectedText(field, pageAddress(cameFrom ?? ''))
  return text === undefined || text === '' ? [] : [['referrer', text]]
}

/** The field for a query parameter. Others are ignored: ad networks add their own, and nobody asked for them. */
function fieldOf(parameter: string): string | undefined {
  if (parameter === 'tab') return 'sheetTab'
  if (parameter === 'source' || parameter === 'tags' || parameter === 'redirect') return parameter
  const key = /^field-([^[\]]+)$/.exec(parameter)?.[1]
  return key === undefined ? undefined : `metadata[${key}]`
}
