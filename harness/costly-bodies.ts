/**
 * A body as long as the limits allow. It repeats a text that is slow for a parser which reads parts of it
 * twice, and it is well-formed up to that text.
 */
export interface CostlyBody {
  readonly title: string
  readonly path: string
  readonly contentType: string
  readonly content: Buffer
}

/** @param bytes the length of each body, at most the limit of the service */
export function costlyBodies(bytes: number): readonly CostlyBody[] {
  const body = (path: string, contentType: string, [title, ...parts]: Text): CostlyBody => ({
    title,
    path,
    contentType,
    content: filled(bytes, ...parts),
  })
  return [
    ...jsonTexts.map((text) => body('/api/signup', 'application/json', text)),
    ...bulkTexts.map((text) => body('/api/signup/bulk', 'application/json', text)),
    ...forms.map((text) => body('/api/signup', 'application/x-www-form-urlencoded', text)),
    ...multiparts.map((text) =>
      body('/api/signup', `multipart/form-data; boundary=${boundary}`, text),
    ),
    ...[
      `c${'b'.repeat(69)}`,
      `c${'b'.repeat(15_000)}`,
      `${'b'.repeat(7_000)}c${'b'.repeat(7_000)}`,
    ].map((long) =>
      body('/api/signup', `multipart/form-data; boundary=${long}`, [
        `what looks like the boundary of ${long.length} letters`,
        '',
        'b',
      ]),
    ),
    body('/api/signup', 'multipart/form-data; boundary=b', [
      'fields with a boundary of one letter',
      '',
      '--b\r\nContent-Disposition:form-data;name=a\r\n\r\n\r\n',
      '--b--\r\n',
    ]),
  ]
}

type Piece = string | ((index: number) => string)
type Text = readonly [title: string, start: string, piece: Piece, end?: string]

const boundary = 'b'.repeat(30)
const metadata = '{"email":"ada@example.com","metadata":{"a":'
const end = '}}'

/** Strings of digits whose hashes in V8 have the same low bits. */
const colliding = (index: number) => String(1_000_000_000 + index * 131_072)

const jsonTexts: readonly Text[] = [
  ['a number of zeros', `${metadata}1`, '0', end],
  ['a number with zeros inside', `${metadata}1`, '0', `1${end}`],
  ['a number with zeros between the dot and a one', `${metadata}1.`, '0', `1${end}`],
  ['a number of zeros behind the dot', `${metadata}0.`, '0', `1${end}`],
  ['a number of nines', `${metadata}9`, '9', end],
  ['an exponent of zeros', `${metadata}1e`, '0', `1${end}`],
  ['an exponent of nines', `${metadata}1e-`, '9', end],
  ['short numbers', `${metadata}[1`, ',1', `]${end}`],
  ['long numbers', `${metadata}[1`, ',1234567890123456', `]${end}`],
  ['numbers of 400 characters', `${metadata}[1`, `,1.${'0'.repeat(397)}1`, `]${end}`],
  ['numbers of 300 characters', `${metadata}[1`, `,1${'0'.repeat(299)}`, `]${end}`],
  ['numbers at the end of the range', `${metadata}[1`, ',5e-324', `]${end}`],
  ['backslashes', `${metadata}"`, '\\\\', `"${end}`],
  ['escaped quotes', `${metadata}"`, '\\"', `"${end}`],
  ['backslashes before quotes', `${metadata}"`, `${'\\'.repeat(999)}"`, `"${end}`],
  ['escaped control characters', `${metadata}"`, '\\n', `"${end}`],
  ['escaped characters', `${metadata}"`, '\\u0000', `"${end}`],
  ['halves of surrogate pairs', `${metadata}"`, '\\ud800', `"${end}`],
  ['spaces', metadata, ' ', `1${end}`],
  ['spaces behind strings', `${metadata}[""`, `${' '.repeat(99)},""`, `]${end}`],
  ['empty strings', `${metadata}[""`, ',""', `]${end}`],
  ['strings of one hash', `${metadata}[""`, (index) => `,"${colliding(index)}"`, `]${end}`],
  ['keys', `${metadata}{"":0`, (index) => `,"k${index}":0`, `}${end}`],
  ['keys that are numbers', `${metadata}{"":0`, (index) => `,"${colliding(index)}":0`, `}${end}`],
  ['one key many times', `${metadata}{"":0`, ',"a":0', `}${end}`],
  [
    'lists in a list that is not too deep',
    `${metadata}[0`,
    `,${'['.repeat(95)}${']'.repeat(95)}`,
    `]${end}`,
  ],
  ['lists in lists', metadata, '['.repeat(1000), `${']'.repeat(1)}${end}`],
  ['deep metadata', `${metadata}${'['.repeat(500_000)}${']'.repeat(500_000)}`, ' ', end],
  ['objects with one key', `${metadata}[0`, ',{"a":1}', `]${end}`],
  ['objects that are no object', `${metadata}[0`, ',{}', `]${end}`],
  ['unknown fields', '{"email":"ada@example.com"', (index) => `,"k${index}":0`, '}'],
  ['one long unknown field', '{"email":"ada@example.com","', 'k', '":0}'],
  ['a list that is not closed', '', '[', ''],
  ['objects that are not closed', '', '{"a":', ''],
  ['tags', '{"email":"ada@example.com","tags":[0', ',"a"', ']}'],
  ['tags that are no text', '{"email":"ada@example.com","tags":[0', ',0', ']}'],
  ['empty tags', '{"email":"ada@example.com","tags":["a"', ',""', ']}'],
  ['commas between tags', '{"email":"ada@example.com","tags":"a', ',', 'b"}'],
  ['spaces between tags', '{"email":"ada@example.com","tags":"a', ' ,', 'b"}'],
  ['spaces in an address', '{"email":"a', ' ', '@example.com"}'],
  ['spaces before an address', '{"email":"', ' ', 'ada@example.com"}'],
  ['a local part', '{"email":"', 'a', '@example.com"}'],
  ['at signs', '{"email":"a', '@', 'example.com"}'],
  ['labels', '{"email":"a@', 'a.', 'com"}'],
  ['hyphens in a label', '{"email":"a@a', '-', 'a.com"}'],
  ['letters of a domain', '{"email":"a@', 'ü', '.com"}'],
  ['combining marks in a tab', '{"email":"ada@example.com","sheetTab":"a', '\u0315\u0300', '"}'],
  ['control characters in a name', '{"email":"ada@example.com","name":"a', 'a\u0080', '"}'],
  ['spaces in a name', '{"email":"ada@example.com","name":"a', ' ', 'a"}'],
  ['a token', '{"email":"ada@example.com","challengeToken":"', 'a', '"}'],
  ['characters of two units', '{"email":"ada@example.com","source":"', '😀', '"}'],
  ['null', `${metadata}[1e999`, ',null', `]${end}`],
]

/** An item that fits into a bulk request a thousand times. */
const item = (start: string, piece: string, end: string) =>
  `,{${start}${piece.repeat(Math.floor((1_064 - start.length - end.length) / Buffer.byteLength(piece)))}${end}}`

/** An item that fits into a bulk request some twenty times. */
const few = (start: string, piece: string, end: string) =>
  `,{${start}${piece.repeat(Math.floor((43_000 - start.length - end.length) / Buffer.byteLength(piece)))}${end}}`

/** A bulk request whose items repeat this piece. */
const bulk = (title: string, piece: Piece): Text => [title, '{"signups":[{"email":""}', piece, ']}']

const bulkTexts: readonly Text[] = [
  ['items that are no objects', '{"signups":[0', ',0', ']}'],
  bulk('items with an unknown field each', ',{"email":"a","k":0}'),
  bulk('a thousand items without anything', item('"name":"', 'a', '"')),
  bulk(
    'unknown fields in a thousand items',
    `,{${Array.from({ length: 130 }, (_, i) => `"a${i}":0`).join()}}`,
  ),
  bulk('long domains in a thousand items', item('"email":"a@', 'ü', '"')),
  bulk('labels in a thousand items', item('"email":"a@', 'ü.', '"')),
  bulk('combining marks in a thousand domains', item('"email":"a@', '\u0315\u0300', '"')),
  bulk(
    'combining marks in a thousand tabs',
    item('"email":"a@a.com","sheetTab":"', '\u0315\u0300', '"'),
  ),
  bulk('combining marks in a few tabs', few('"email":"a@a.com","sheetTab":"', '\u0315\u0300', '"')),
  bulk('tags that are no text in a thousand items', item('"email":"a@a.com","tags":[0', ',0', ']')),
  bulk('long domains in a few items', few('"email":"a@', 'ü', '"')),
  bulk('names in a few items', few('"email":"a@a.com","name":"', 'a\u0080', '"')),
  bulk('metadata of many objects', item('"email":"a@a.com","metadata":{"a":[0', ',{"b":1}', ']}')),
  bulk(
    'metadata of many objects in a few items',
    `,{"email":"a@a.com","metadata":{"a":[0${',{"b":1}'.repeat(1_200)}]}}`,
  ),
  bulk(
    'metadata of many keys in a few items',
    `,{"email":"a@a.com","metadata":{"a":{${Array.from({ length: 1000 }, (_, i) => `"${999 - i}":0`).join()}}}}`,
  ),
  [
    'lists in lists in a few items',
    '{"signups":[{"email":"a@a.com"}',
    `,{"name":${'['.repeat(20_000)}${']'.repeat(20_000)}}`,
    ']}',
  ],
  [
    'lists in lists in some items',
    '{"signups":[{"email":"a@a.com"}',
    `,{"name":${'['.repeat(5_000)}${']'.repeat(5_000)}}`,
    ']}',
  ],
  [
    'metadata of lists in lists in a few items',
    '{"signups":[{"email":"a@a.com"}',
    `,{"email":"a@a.com","metadata":{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}}`,
    ']}',
  ],
  [
    'metadata within the limit',
    '{"signups":[{"email":"a@a.com"}',
    `,{"email":"a@a.com","metadata":{"a":[0${`,${'['.repeat(97)}${']'.repeat(97)}`.repeat(50)}]}}`,
    ']}',
  ],
  bulk(
    'metadata of many lists',
    `,{"email":"a@a.com","metadata":{"a":${'['.repeat(520)}${']'.repeat(520)}}}`,
  ),
  bulk(
    'metadata of many lists in a few items',
    `,{"email":"a@a.com","metadata":{"a":${'['.repeat(4900)}${']'.repeat(4900)}}}`,
  ),
  bulk(
    'control characters in metadata',
    item('"email":"a@a.com","metadata":{"a":"', '\\n"'.slice(0, 2) + 'a', '"}'),
  ),
  [
    'unknown fields beside',
    '{"signups":[{"email":"ada@example.com"}]',
    (index) => `,"k${index}":0`,
    '}',
  ],
]

const forms: readonly Text[] = [
  ['names without a value', 'email=ada@example.com', '&a'],
  ['separators', 'email=ada@example.com', '&'],
  ['equals signs', 'email=ada@example.com&a', '='],
  ['empty fields', 'email=ada@example.com', '&a='],
  ['fields without a name', 'email=ada@example.com', '&=a'],
  ['percent signs', 'email=ada@example.com&a=', '%'],
  ['percent signs of half a byte', 'email=ada@example.com&a=', '%4'],
  ['encoded letters', 'email=ada@example.com&a=', '%41'],
  ['encoded characters', 'email=ada@example.com&a=', '%C3%BC'],
  ['bytes that are no UTF-8', 'email=ada@example.com&a=', '%FF'],
  ['plus signs', 'email=ada@example.com&a=', '+'],
  ['brackets', 'email=ada@example.com&metadata', '['],
  ['closing brackets', 'email=ada@example.com&metadata[', ']'],
  ['a key without an end', 'email=ada@example.com&metadata[', 'a', '=1'],
  ['control characters', 'email=ada@example.com&a=', 'a%00'],
  ['a long value', 'email=ada@example.com&a=', 'a'],
  ['characters that pages escape', 'email=ada@example.com&a=', '"'],
  ['quotes in as many fields as there may be', 'email=&a=1', `&metadata[k]=${'"'.repeat(1_034)}`],
  [
    'metadata as JSON',
    'email=ada@example.com&metadata={"":0',
    (index) => `,"${colliding(index)}":0`,
    '}',
  ],
  [
    'metadata in as many keys and fields as there may be',
    'email=ada@example.com',
    (index) =>
      `&metadata={${Array.from({ length: 1_990 }, (_, key) => `"${(index * 1_990 + key).toString(36)}":1`).join()}}`,
  ],
  ['addresses', 'email=a', '&email=a'],
  ['tags', 'email=ada@example.com', '&tags=a'],
]

const field = (name: string, value = '') =>
  `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
const multipartEnd = `--${boundary}--\r\n`

const emailField = field('email', 'ada@example.com')
/** A field whose value goes on. */
const openField = emailField.slice(0, -2)
/** A part whose headers go on, and what ends it. */
const partHead = `--${boundary}\r\nContent-Disposition: form-data; name="a"`
const partEnd = `\r\n\r\n\r\n${multipartEnd}`

const multiparts: readonly Text[] = [
  ['fields', emailField, field('a', 'b'), multipartEnd],
  ['empty fields', emailField, field(''), multipartEnd],
  [
    'empty files',
    emailField,
    `--${boundary}\r\nContent-Disposition: form-data; name="a"; filename=""\r\n\r\n\r\n`,
    multipartEnd,
  ],
  ['boundaries alone', emailField, `--${boundary}\r\n`, multipartEnd],
  ['beginnings of boundaries', openField, `\r\n--${boundary.slice(1)}`, `\r\n${multipartEnd}`],
  ['line ends', openField, '\r\n', `\r\n${multipartEnd}`],
  ['hyphens', openField, '-', `\r\n${multipartEnd}`],
  ['headers of a part', partHead, '\r\nx:y', partEnd],
  [
    'dispositions of a part',
    `--${boundary}`,
    '\r\nContent-Disposition: form-data; name="a"',
    partEnd,
  ],
  ['parameters of a disposition', partHead, '; name="a"', partEnd],
  [
    'a name',
    `--${boundary}\r\nContent-Disposition: form-data; name="`,
    '%22',
    `"\r\n\r\n\r\n${multipartEnd}`,
  ],
  [
    'spaces in a header',
    `--${boundary}\r\nContent-Disposition:`,
    ' ',
    `form-data; name="a"\r\n\r\n\r\n${multipartEnd}`,
  ],
  ['bytes before the first boundary', '', 'a', `\r\n${field('email')}${multipartEnd}`],
]

/** The start, then the piece as often as it fits, then the end. */
function filled(bytes: number, start: string, piece: Piece, end = ''): Buffer {
  const pieces = [start]
  let room = bytes - Buffer.byteLength(start + end)
  for (let index = 0; ; index++) {
    const next = typeof piece === 'string' ? piece : piece(index)
    room -= Buffer.byteLength(next)
    if (room < 0) return Buffer.from(pieces.join('') + end)
    pieces.push(next)
  }
}
