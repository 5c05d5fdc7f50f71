/** Somebody who is signed in to the admin page, as a browser without JavaScript. */
export interface AdminVisitor {
  /** @param path below `/admin` */
  get(path: string): Promise<Response>
  /** Sends these fields with the token of the login. Follows no redirect. */
  post(
    path: string,
    fields: Readonly<Record<string, string>> | readonly (readonly [string, string])[],
  ): Promise<Response>
}

/** @throws Error when the token is refused */
export async function signIn(url: string, token: string): Promise<AdminVisitor> {
  const send = (path: string, init: RequestInit = {}) =>
    fetch(path.startsWith('/admin') ? url + path : `${url}/admin${path}`, {
      redirect: 'manual',
      ...init,
    })
  const answer = await send('', { method: 'POST', body: new URLSearchParams({ token }) })
  const cookie = answer.headers.get('set-cookie')?.split(';')[0]
  if (cookie === undefined) throw new Error(`The sign-in was answered ${answer.status}.`)
  const get = (path: string) => send(path, { headers: { cookie } })
  const csrf = /name="csrf" value="([^"]+)"/.exec(await (await get('')).text())?.[1] ?? ''
  return {
    get,
    post: (path, fields) => {
      const given = Array.isArray(fields) ? fields : Object.entries(fields)
      const body = new URLSearchParams([...given, ['csrf', csrf]] as string[][])
      return send(path, { method: 'POST', headers: { cookie }, body })
    },
  }
}

/** The page of a piece of work as soon as it does not run any more. @param location where its start led to */
export async function workEnded({ get }: AdminVisitor, location: string): Promise<string> {
  const { pathname, search } = new URL(location, 'http://localhost/admin/')
  for (;;) {
    const text = await (await get(pathname + search)).text()
    if (!text.includes('http-equiv="refresh"')) return text
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
