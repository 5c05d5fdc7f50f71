import { expect, test } from 'vitest'
import { refusedScript } from './assets.ts'

test('a script with a wrong address tells why in the console, to pages of every origin', () => {
  const { status, headers, body, security, isPublic } = refusedScript('there is no such site')
  expect({ status, body, isPublic }).toEqual({
    status: 200,
    body: 'console.error("Rollcall: there is no such site")\n',
    isPublic: true,
  })
  expect(headers).toEqual(['content-type', 'text/javascript; charset=utf-8'])
  expect(security[security.indexOf('cross-origin-resource-policy') + 1]).toBe('cross-origin')
})
