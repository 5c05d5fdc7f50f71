import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { limits } from '../../src/signup/limits.ts'
import { makeSignup } from '../../harness/make-signup.ts'
import { webhookBody } from '../../src/outbox/webhook/endpoint.ts'
import { type BootedService, bootService } from '../../harness/boot-service.ts'

const path = '/api/openapi.json'
const apiKey = 'a-key-of-the-openapi-test'

let service: BootedService
beforeAll(async () => {
  service = await bootService({
    env: { API_KEYS: apiKey, BULK_MAX: '7', BODY_LIMIT_BYTES: '5000' },
  })
})
afterAll(() => service.stop())

interface Document {
  readonly paths: Record<string, Record<string, { readonly security?: unknown }>>
  readonly components: {
    readonly parameters?: Record<string, object>
    readonly schemas: Record<string, { properties: Record<string, Record<string, unknown>> }>
  }
}

async function fetchDocument(): Promise<Document> {
  const answer = await fetch(service.url + path)
  return (await answer.json()) as Document
}

/** What the linter finds, by its recommended rules. */
async function problemsOf(source: string) {
  // OpenAPI itself says that fixed paths go before those with a parameter.
  const rules = { 'no-ambiguous-paths': 'off' }
  // As a text: to check an object against its type takes TypeScript two seconds.
  const config = await createConfig(JSON.stringify({ extends: ['recommended'], rules }))
  const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config })
  return problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])
}

test('the document follows the recommended rules of its linter', async () => {
  expect(await problemsOf(await (await fetch(service.url + path)).text())).toEqual([])
})

test('with sites it has the fields and limits of the site that is asked for, names all, and follows the rules', async () => {
  const fields = [
    { name: 'company', label: 'Firma', required: true, maxLength: 80 },
    { name: 'plan', type: 'choice', options: ['free', 'pro'] },
    { name: 'seats', type: 'number', min: 1, max: 500 },
    { name: 'news', type: 'checkbox' },
    { name: 'home', type: 'url' },
    { name: 'start', type: 'date' },
    { name: 'phone', type: 'phone' },
    { name: 'utm_source' },
  ]
  const ROLLCALL_CONFIG = JSON.stringify({ sites: { launch: { fields }, blog: {} } })
  await using named = await bootService({ env: { ROLLCALL_CONFIG, API_KEYS: apiKey } })
  const ask = (query: string) => fetch(named.url + path + query)
  expect([(await ask('')).status, (await ask('?site=shop')).status]).toEqual([422, 422])
  const text = await (await ask('?site=launch')).text()
  expect(await problemsOf(text)).toEqual([])
  const { paths, components } = JSON.parse(text) as Document
  const { Signup, SignupForm, BulkItem, Bulk, Site } = components.schemas
  expect(Site).toMatchObject({ enum: ['launch', 'blog'] })
  expect(components.parameters?.['Site']).toMatchObject({ required: true })
  expect(Signup).toMatchObject({ required: ['email', 'company'] })
  for (const schema of [Signup, SignupForm, BulkItem]) {
    expect(schema?.properties).toMatchObject({
      company: { title: 'Firma', type: 'string', minLength: 1, maxLength: 80 },
    })
    expect(Object.keys(schema?.properties ?? {})).toEqual(
      expect.arrayContaining(fields.map(({ name }) => name)),
    )
  }
  expect(SignupForm?.properties).toMatchObject({
    plan: { type: 'string', enum: ['free', 'pro'] },
    seats: { type: 'number', minimum: 1, maximum: 500 },
    news: { type: 'boolean' },
    start: { format: 'date' },
  })
  const takesSite = (path: string) =>
    /parameters\/Site|"name":"site"/.test(JSON.stringify(paths[path]))
  expect(Object.keys(paths).filter((it) => !takesSite(it))).toEqual(['/api/health'])
  expect([Signup, SignupForm, Bulk].every((it) => it?.properties['site'])).toBe(true)
  expect(BulkItem?.properties).not.toHaveProperty('site')
  const other = (await (await ask('?site=blog')).json()) as Document
  expect(other.components.schemas['Signup']?.properties).not.toHaveProperty('company')
})

test('with a site default, the document without a site has the fields of that one', async () => {
  const sites = { blog: {}, default: { fields: [{ name: 'company' }] } }
  await using named = await bootService({ env: { ROLLCALL_CONFIG: JSON.stringify({ sites }) } })
  const { components } = (await (await fetch(named.url + path)).json()) as Document
  expect(components.schemas['Signup']?.properties).toHaveProperty('company')
  expect(components.parameters?.['Site']).toMatchObject({ required: false })
})

test('the document has the paths of the interface, each with every method that it takes but HEAD and OPTIONS', async () => {
  const { paths } = await fetchDocument()
  const signups = ['signup', 'signup/bulk', 'signup/{id}', 'config', 'stamp', 'challenge']
  const endpoints = [...signups, 'health', 'ready', 'openapi.json']
  expect(Object.keys(paths)).toEqual(endpoints.map((endpoint) => `/api/${endpoint}`))
  for (const [path, operations] of Object.entries(paths)) {
    const url = service.url + path.replace('{id}', crypto.randomUUID())
    const answer = await fetch(url, { method: 'OPTIONS' })
    const { parameters: _, ...methods } = operations
    const documented = Object.keys(methods).map((method) => method.toUpperCase())
    const more = documented.includes('GET') ? ['HEAD', 'OPTIONS'] : ['OPTIONS']
    const allowed = answer.headers.get('allow')?.split(', ')
    expect([path, allowed?.sort()]).toEqual([path, [...documented, ...more].sort()])
  }
})

describe('the document has the limits', () => {
  test('of the settings', async () => {
    const { paths, components } = await fetchDocument()
    expect(components.schemas['Bulk']?.properties['signups']).toMatchObject({ maxItems: 7 })
    expect(JSON.stringify(paths['/api/signup'])).toContain('5000 bytes')
    expect(paths['/api/signup/bulk']?.['post']?.security).toEqual([{ apiKey: [] }])
  })

  test('of a signup', async () => {
    const { components } = await fetchDocument()
    const { email, name } = components.schemas['Signup']?.properties ?? {}
    expect(email).toMatchObject({ maxLength: limits.emailCharactersMax })
    expect(JSON.stringify(name)).toContain(`"maxLength":${limits.nameCharactersMax}`)
  })
})

test('the messages to webhooks are as the document describes them', async () => {
  const { webhooks, components } = (await fetchDocument()) as Document & { webhooks: object }
  expect(Object.keys(webhooks)).toEqual(['signup.accepted', 'signup.erased'])
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  const own = { name: 'Ada', tags: ['a'], metadata: '{"plan":1}', fields: { seats: 3 } }
  for (const [type, schema, signup] of [
    ['signup.accepted', 'AcceptedMessage', makeSignup({ ...own, confirmedAt: 1 })],
    ['signup.accepted', 'AcceptedMessage', makeSignup()],
    ['signup.erased', 'ErasedMessage', makeSignup({ email: '' })],
  ] as const) {
    const body = JSON.parse(webhookBody({ type, position: 7, signup }, 'news', 0)) as object
    const described = { components, $ref: `#/components/schemas/${schema}` }
    expect(ajv.compile(described)(body), schema).toBe(true)
    const { data, ...others } = body as { data: object }
    expect(ajv.compile(described)({ ...others, data: { ...data, id: 7 } })).toBe(false)
  }
})
