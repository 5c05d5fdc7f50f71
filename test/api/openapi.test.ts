import { createConfig, lintFromString } from '@redocly/openapi-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { limits } from '../../src/signup/limits.ts'
import { type RunningService, startService } from '../../harness/start-service.ts'

const path = '/api/openapi.json'
const apiKey = 'a-key-of-the-openapi-test'

let service: RunningService
beforeAll(async () => {
  service = await startService({
    env: { API_KEYS: apiKey, BULK_MAX: '7', BODY_LIMIT_BYTES: '5000' },
  })
})
afterAll(() => service.stop())

interface Document {
  readonly paths: Record<string, Record<string, { readonly security?: unknown }>>
  readonly components: {
    readonly schemas: Record<string, { properties: Record<string, Record<string, unknown>> }>
  }
}

async function fetchDocument(): Promise<Document> {
  const answer = await fetch(service.url + path)
  return (await answer.json()) as Document
}

test('the document follows the recommended rules of its linter', async () => {
  const source = await (await fetch(service.url + path)).text()
  const config = await createConfig({
    extends: ['recommended'],
    // OpenAPI itself says that fixed paths go before those with a parameter.
    rules: { 'no-ambiguous-paths': 'off' },
  })
  const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config })
  expect(
    problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer]),
  ).toEqual([])
})

test('the linter finds a mistake in a document', async () => {
  const document: Record<string, unknown> = { ...(await fetchDocument()), info: {} }
  const config = await createConfig({ extends: ['recommended'] })
  const source = JSON.stringify(document)
  const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config })
  expect(problems.filter(({ severity }) => severity === 'error')).not.toEqual([])
})

test('the document is not sent again to a client that has it', async () => {
  const first = await fetch(service.url + path)
  expect(first.headers.get('content-type')).toBe('application/json')
  const etag = first.headers.get('etag') ?? ''
  expect(etag).toMatch(/^"[\w-]+"$/)
  const second = await fetch(service.url + path, { headers: { 'if-none-match': etag } })
  expect(second.status).toBe(304)
  expect(await second.text()).toBe('')
})

test('the document has the paths of the interface, each with every method that it takes', async () => {
  const { paths } = await fetchDocument()
  const endpoints = ['signup', 'signup/bulk', 'signup/{id}', 'config', 'health', 'ready']
  expect(Object.keys(paths)).toEqual(
    expect.arrayContaining(endpoints.map((endpoint) => `/api/${endpoint}`)),
  )
  for (const [path, operations] of Object.entries(paths)) {
    const answer = await fetch(service.url + path, { method: 'OPTIONS' })
    const { parameters: _, ...methods } = operations
    const documented = Object.keys(methods).map((method) => method.toUpperCase())
    expect([path, answer.headers.get('allow')?.split(', ').sort()]).toEqual([
      path,
      documented.sort(),
    ])
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
