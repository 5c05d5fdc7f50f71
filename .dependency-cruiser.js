/** Who may import whom. `npm run check` holds every file to it, and `npm run graph` draws it. */

const cli = [
  'service/',
  'config/',
  'operations/',
  'journal/contracts/',
  'spreadsheet/(spreadsheet|csv).ts',
  'signup/',
  'platform/',
]

/** For each room of `src/`, what else in `src/` its files may import: the beginnings of paths, as regexes. */
const mayImport = {
  'signup/': ['platform/'],
  'platform/': [],
  'client/': [],
  'ops/': ['signup/', 'platform/'],
  // What the keys of each provider look like.
  'config/': ['challenge/providers.ts', 'signup/', 'platform/'],
  // JSON is parsed, and a language is chosen, in one way.
  'http/': ['platform/', 'signup/(json|languages).ts'],
  'challenge/': ['signup/', 'platform/'],
  'journal/': ['signup/', 'platform/'],
  'spreadsheet/': ['signup/', 'platform/'],
  'intake/': [
    'http/',
    'signup/',
    'platform/',
    'challenge/challenge.ts',
    'journal/contracts/(intake-log|errors).ts',
  ],
  'pages/': ['http/', 'signup/', 'platform/'],
  'api/': ['http/', 'signup/', 'platform/', 'journal/contracts/(reader|errors).ts'],
  // An action is an operation, as of a command.
  'admin/': [
    'http/',
    'pages/(document|view).ts',
    'operations/',
    'journal/contracts/',
    'signup/',
    'platform/',
  ],
  'delivery/': [
    'signup/',
    'platform/',
    'journal/contracts/(delivery-log|erasure|call-ledger|lease|errors).ts',
    'spreadsheet/(spreadsheet|read-rows|backoff).ts',
  ],
  // What commands do with the journal and the spreadsheet together. Only `service/`, `cli/` and `admin/` import it.
  'operations/': [
    'signup/',
    'platform/',
    'journal/contracts/',
    'spreadsheet/(spreadsheet|read-rows|backoff|csv).ts',
  ],
  'outbox/': [
    'signup/',
    'platform/',
    'journal/contracts/(outbox|webhook-log|delivery-log|reader|errors).ts',
  ],
  'alerts/': [
    'signup/',
    'platform/',
    'journal/contracts/(outbox|delivery-log|reader|errors).ts',
    'outbox/(ladder|webhook/)',
  ],
  'service/': ['(?!cli/|main.ts|start.js)'],
  'cli/': cli,
  // Looks at every provider and database as it is.
  'cli/doctor/': ['cli/', ...cli, 'challenge/', 'alerts/', 'outbox/', 'journal/', 'spreadsheet/'],
  'main.ts': ['cli/'],
  'start.js': ['main.ts'],
}

/** What they may import besides, with `import type` only. */
const mayImportTypes = {
  'client/': ['signup/wire.ts'],
  'http/': ['signup/wire.ts'],
  'operations/': ['ops/', 'journal/tables/admin-log.ts', 'journal/postgres/server-facts.ts'],
  'ops/': ['challenge/challenge.ts'],
  'spreadsheet/': ['ops/'],
  'intake/': ['ops/', 'challenge/stamps.ts'],
  'pages/': ['ops/', 'config/sites/site.ts'],
  'api/': ['ops/'],
  'admin/': ['ops/', 'journal/tables/admin-log.ts'],
  'delivery/': ['ops/'],
  'outbox/': ['ops/', 'journal/contracts/journal.ts'],
  'alerts/': ['ops/'],
}

/** What runs in browsers as well: how a form is drawn, its messages, which address was meant, the proof of work. */
const sharedWithBrowsers =
  'pages/(form-trees|field-messages)|challenge/puzzle|signup/(site-text|suggest-email|filter-fields)'

const test = '\\.test\\.ts$'
const inSrc = (paths) => paths.map((path) => `^src/${path}`)

const rooms = Object.keys(mayImport).flatMap((room) => {
  const name = room.replace(/[/.](ts|js)?$/, '').replace('/', '-')
  const inner = Object.keys(mayImport).filter((it) => it !== room && it.startsWith(room))
  const from = { path: inSrc([room]), pathNot: [test, ...inSrc(inner)] }
  const values = [room, ...mayImport[room]]
  const types = mayImportTypes[room] ?? []
  return [
    {
      name: `${name}-imports`,
      comment: `${room} may import ${[...mayImport[room], ...types].join(', ') || 'nothing else'} of src/.`,
      severity: 'error',
      from,
      to: { path: '^src/', pathNot: inSrc([...values, ...types]) },
    },
    {
      name: `${name}-imports-types`,
      comment: `${room} may only import types of ${types.join(', ')}: use import type.`,
      severity: 'error',
      from,
      to: {
        path: inSrc(types),
        pathNot: inSrc(values),
        dependencyTypesNot: ['type-only'],
      },
    },
  ].slice(0, types.length === 0 ? 1 : 2)
})

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...rooms,
    {
      name: 'known-room',
      comment: 'A new room of src/ needs a line in .dependency-cruiser.js.',
      severity: 'error',
      from: { path: '^src/', pathNot: inSrc(Object.keys(mayImport)) },
      to: {},
    },
    {
      name: 'engines-apart',
      comment: 'A journal or a spreadsheet never imports another one: share through the interface.',
      severity: 'error',
      from: { path: '^src/(journal|spreadsheet)/([^/]+)/', pathNot: test },
      to: { path: '^src/$1/[^/]+/', pathNot: '^src/($1/$2|journal/(contracts|tables))/' },
    },
    {
      name: 'interface-first',
      comment: 'What all engines share imports none of them.',
      severity: 'error',
      from: { path: '^src/(journal|spreadsheet)/([^/]+|(contracts|tables)/.+)$', pathNot: test },
      to: { path: '^src/$1/(sqlite|postgres|google|workbook)/' },
    },
    {
      name: 'contracts-alone',
      comment: 'The contracts of the journal need nothing but types of what keeps them.',
      severity: 'error',
      from: { path: '^src/journal/contracts/', pathNot: test },
      to: {
        path: '^src/journal/',
        pathNot: '^src/journal/contracts/',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'node-apart',
      comment: 'Only these rooms run on Node alone. Have what you need passed in.',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: [
          ...inSrc(['service/', 'cli/', 'journal/(sqlite|postgres)/', 'spreadsheet/workbook/']),
          ...inSrc(['config/env.ts', 'platform/node/']),
          // These keep in temporary tables what memory cannot hold.
          ...inSrc(['operations/', 'journal/tables/known-addresses.ts']),
          test,
        ],
      },
      to: { path: '^src/platform/node/' },
    },
    {
      name: 'src-alone',
      comment: 'The service imports nothing of its tests, emulators, benches or scripts.',
      severity: 'error',
      from: { path: '^src/', pathNot: test },
      to: { path: [test, '^(?!src/|node_modules/)[^/]+/'], dependencyTypesNot: ['core'] },
    },
    {
      name: 'src-without-dev-packages',
      comment: 'npm ci --omit=dev leaves this package out: move it to dependencies.',
      severity: 'error',
      from: { path: '^src/', pathNot: test },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'browser-alone',
      comment:
        'What browsers load shares with the service the types of signup/wire.ts, and what runs in both.',
      severity: 'error',
      from: { path: '^browser/', pathNot: test },
      to: {
        path: '^(?!browser/)',
        pathNot: `^src/(signup/wire|${sharedWithBrowsers}).ts$`,
      },
    },
    {
      name: 'browser-imports-types',
      comment: 'What browsers load only imports types of the service: use import type.',
      severity: 'error',
      from: { path: '^browser/' },
      to: {
        path: '^src/',
        pathNot: `^src/(${sharedWithBrowsers}).ts$`,
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'no-circles',
      comment: 'Files that import each other, be it types, can only be understood together.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'nothing-missing',
      comment: 'There is no such file, or no package of that name is installed.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Imports of types count too.
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['types', 'import', 'node', 'default'],
    },
    cache: { folder: 'node_modules/.cache/dependency-cruiser', strategy: 'content' },
  },
}
