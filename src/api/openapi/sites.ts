import type { Field } from '../../signup/field.ts'
import { ref } from './responses.ts'
import type { Json } from './json.ts'

/** The sites of the service, and the one whose signups the document describes. */
export interface DescribedSites {
  readonly name: string
  readonly fields: readonly Field[]
  /** The names of all sites. */
  readonly all: readonly string[]
}

export const siteName = ref('schemas', 'Site')

/** The query parameter of requests that are about one site. */
export function siteParameter({ all }: DescribedSites): Json {
  const hasDefault = all.includes('default')
  const description = hasDefault
    ? 'The site that the request is about; the site default when absent.'
    : 'The site that the request is about. The body of a signup may name it instead.'
  return { name: 'site', in: 'query', required: !hasDefault, description, schema: siteName }
}

/** The query parameter of requests that need no site. */
export function optionalSite(description: string): Json {
  return { name: 'site', in: 'query', description, schema: siteName }
}

/** The property of a body that names the site. */
export const siteProperty = { site: { anyOf: [siteName, { type: 'null' }] } }

/** The schemas that only a service with sites has. */
export function siteSchemas({ all }: DescribedSites): Json {
  const description = 'The name of a site. When address and body both have one, they have to agree.'
  return { Site: { type: 'string', enum: all, description } }
}
