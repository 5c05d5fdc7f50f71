/** Posts a form whose hidden field was filled, as a bot does it. The answer is JSON. */
export function postSuspect(
  url: string,
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(`${url}/api/signup`, {
    method: 'POST',
    headers: { accept: 'application/json', ...headers },
    body: new URLSearchParams({ ...fields, rollcall_message: 'Buy now' }),
  })
}
