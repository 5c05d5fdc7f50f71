import { expect } from 'vitest'

interface Answer {
  readonly status: number
  readonly headers: Headers
}

/** Expects the headers that every answer of the service has. */
export function expectSecured({ headers }: Answer): void {
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('referrer-policy')).toBe('same-origin')
  expect(headers.get('cross-origin-resource-policy')).toMatch(/^(same|cross)-origin$/)
  expect(headers.get('permissions-policy')).toContain('camera=()')
  expect(headers.get('cache-control')).not.toBeNull()
  expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  const policy = headers.get('content-security-policy')
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain('frame-ancestors')
  expect(policy).not.toContain('unsafe')
  expect(headers.has('x-frame-options')).toBe(policy?.includes("frame-ancestors 'none'"))
  expect(headers.has('x-powered-by')).toBe(false)
  expect(headers.has('server')).toBe(false)
}

/** Expects a problem document (RFC 9457) with the request id of the header. Returns its detail. */
export function expectProblem(answer: Answer, body: string, status: number): string {
  expect(answer.status).toBe(status)
  expectSecured(answer)
  expect(answer.headers.get('content-type')).toBe('application/problem+json')
  const problem = JSON.parse(body) as { detail: string }
  expect(problem).toMatchObject({
    type: 'about:blank',
    title: expect.stringMatching(/^[A-Z][A-Za-z -]+$/),
    status,
    detail: expect.stringMatching(/^\S.*\.$/s),
    requestId: answer.headers.get('x-request-id'),
  })
  expect(body).not.toMatch(/node_modules|\.ts\b|at \w+ \(/)
  return problem.detail
}
