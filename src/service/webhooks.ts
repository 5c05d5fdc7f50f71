import { type Secrets, secretsOf } from '../config/secrets.ts'
import { endpointKeyOf } from '../outbox/webhook/endpoint.ts'

export type SiteEndpoint = ReturnType<typeof endpointsOf>[number]

/** The endpoints of a site with their numbers, from 1 in the order of the settings, and their keys. */
export function endpointsOf(secrets: Pick<Secrets, 'sites'>, site: { readonly name: string }) {
  return (secretsOf(secrets, site).webhooks ?? []).map((webhook, at) => {
    const { host } = new URL(webhook.url)
    return { ...webhook, site: site.name, number: at + 1, host, key: endpointKeyOf(webhook.url) }
  })
}
