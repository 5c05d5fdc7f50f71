/** A request whose first line and headers have nearly 16 KiB and are slow for a parser that reads them twice. */
export interface CostlyHead {
  readonly title: string
  readonly method: 'GET' | 'POST'
  /** The path and the query. */
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
}

/** The limit for the first line and the headers together is 16 KiB. */
const pieceBytes = 15_000

export function costlyHeads(): readonly CostlyHead[] {
  const choices = pairs(
    ['accept', 'accept-language', 'accept-encoding', 'if-none-match'],
    [',', 'a,', ';', ';q=', 'a;q=0.1,', '"', 'a="', '*/*,', 'W/', nbsp],
  )
  const addresses = pairs(
    ['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'origin', 'host'],
    [',', 'a,', 'a.', '1.1.1.1,', '1.', 'f:', '[', ']', ':1', ']:1', '%', 'xn--a.', '\xfc.', nbsp],
  )
  const ofPosts = pairs(
    ['prefer', 'content-encoding', 'transfer-encoding', 'content-type', 'authorization', 'cookie'],
    ['"', '"\\', 'wait=', 'wait=1', ';charset=', ';boundary=', 'chunked,', 'bearer ', ' ;', nbsp],
  )
  const queries = pairs(
    ['/', '/api/signup/form', '/api/signup/thanks', '/api/ready', '/nothing'],
    ['a&', '&', 'a=', '=', '%', '%41', '%C3%BC', '+', '?', 'utm_a=b&', 'field-a=b&', 'tags=a&'],
  )
  const paths = ['/', '%', '%41', '%2f', '../', 'a/', '.', ';', '%FF']
  return [
    ...choices.flatMap(([name, piece]) => [
      get('/api/signup/form', { [name]: repeated(piece) }),
      get('/embed.js', { [name]: repeated(piece) }),
    ]),
    ...addresses.map(([name, piece]) =>
      post({ origin: 'https://other.example', [name]: repeated(piece) }),
    ),
    ...ofPosts.map(([name, piece]) =>
      post({ [name]: name === 'content-type' ? form + repeated(piece) : repeated(piece) }),
    ),
    ...queries.map(([path, piece]) => get(`${path}?${repeated(piece)}`, { accept: 'text/html' })),
    ...paths.map((piece) => get(`/api/signup/${repeated(piece)}`, { accept: 'text/html' })),
    get('/', Object.fromEntries(Array.from({ length: 1_800 }, (_, index) => [`a${index}`, '']))),
  ]
}

const form = 'application/x-www-form-urlencoded'
/** White space to a regular expression, and a letter to a parser of headers. */
const nbsp = '\xa0'

function get(target: string, headers: Readonly<Record<string, string>>): CostlyHead {
  return { title: titleOf('GET', target, headers), method: 'GET', target, headers }
}

/** A form that a person sends. */
function post(given: Readonly<Record<string, string>>): CostlyHead {
  const headers = { accept: 'text/html', 'content-type': form, ...given }
  return { title: titleOf('POST', '', given), method: 'POST', target: '/api/signup', headers }
}

function titleOf(...parts: [method: string, target: string, headers: object]): string {
  const [method, target, headers] = parts
  return `${method} ${target.slice(0, 40)} ${JSON.stringify(headers).slice(0, 80)}`
}

/** Repeats a piece and ends with another letter, because a match that fails takes longest. */
function repeated(piece: string): string {
  return `${piece.repeat(Math.floor(pieceBytes / piece.length))}x`
}

function pairs<A, B>(ones: readonly A[], others: readonly B[]): [A, B][] {
  return ones.flatMap((one) => others.map((other): [A, B] => [one, other]))
}
