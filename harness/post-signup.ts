/** Posts a signup as JSON. A `body` that is text is sent as it is. */
export async function postSignup(
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return post(`${url}/api/signup`, body, headers)
}

/** Posts a bulk request as JSON. A `body` that is text is sent as it is. */
export async function postBulk(
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return post(`${url}/api/signup/bulk`, body, headers)
}

async function post(
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>>,
): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

/** Posts a signup for each address, `atOnce` at a time. Resolves with the ids in the order of the list. */
export async function postSignups(
  url: string,
  emails: readonly string[],
  atOnce = 50,
): Promise<string[]> {
  const ids: string[] = []
  let next = 0
  const worker = async () => {
    for (let index = next++; index < emails.length; index = next++) {
      const answer = await postSignup(url, { email: emails[index] })
      const { id } = (await answer.json()) as { id: string }
      if (answer.status !== 202) throw new Error(`a signup was answered ${answer.status}`)
      ids[index] = id
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return ids
}
