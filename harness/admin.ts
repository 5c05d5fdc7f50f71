import { expect } from 'vitest'

export const adminToken = 'correct-horse-battery-staple'

/** Somebody who is signed in to the admin page. */
export interface Operator {
  /** The cookie, as a browser sends it. */
  readonly cookie: string
  /** @param path such as `/sending`; empty for the overview */
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Response>
  /** Posts a form with the CSRF token of this login. */
  post(path: string, fields?: Fields): Promise<Response>
}

type Fields = Readonly<Record<string, string>> | readonly (readonly [string, string])[]

/** Sends a token, as the form does. */
export function sendToken(url: string, token: string, headers?: HeadersInit): Promise<Response> {
  const body = new URLSearchParams({ token })
  return fetch(`${url}/admin`, {
    method: 'POST',
    body,
    redirect: 'manual',
    ...(headers && { headers }),
  })
}

/** What a browser would send of the cookie that an answer sets; undefined when it sets none. */
export function cookieIn(answer: Response): string | undefined {
  return answer.headers.get('set-cookie')?.split(';')[0]
}

/** The token of the forms on a page. */
export function csrfIn(page: string): string {
  return /name="csrf" value="([^"]+)"/.exec(page)?.[1] ?? expect.fail(`no form in ${page}`)
}

/** Signs in at a service. */
export async function signIn(url: string, token = adminToken): Promise<Operator> {
  const cookie = cookieIn(await sendToken(url, token)) ?? expect.fail('the token was refused')
  return operatorOf(url, cookie)
}

/** The operator with this cookie, at this instance of the service. */
export function operatorOf(url: string, cookie: string): Operator {
  const get: Operator['get'] = (path, headers) =>
    fetch(`${url}/admin${path}`, { redirect: 'manual', headers: { cookie, ...headers } })
  return {
    cookie,
    get,
    async post(path, fields = {}) {
      const csrf = csrfIn(await (await get('')).text())
      const given = Array.isArray(fields) ? fields : Object.entries(fields)
      const body = new URLSearchParams([...given, ['csrf', csrf]] as string[][])
      const form = { method: 'POST', body, redirect: 'manual', headers: { cookie } } as const
      return fetch(`${url}/admin${path}`, form)
    },
  }
}

/** The page of a piece of work as soon as it does not run any more. @param begun the answer to its start */
export async function workEnded({ get }: Operator, begun: Response): Promise<string> {
  const location = begun.headers.get('location') ?? expect.fail('no work was begun')
  const { pathname, search } = new URL(location, 'http://localhost/admin/')
  for (;;) {
    const text = await (await get(pathname.replace('/admin', '') + search)).text()
    if (!text.includes('http-equiv="refresh"')) return text
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
