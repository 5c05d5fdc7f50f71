/**
 * What only one file of `src/` may do, or none, as options of ESLint's own rules. They are put together
 * here because ESLint takes the options of the last block that matches a file, and not those of all.
 */

/** For each: the file that may do it, the message for other files, and its forms. */
const confined = [
  {
    homes: ['src/config/env/env.ts'],
    message: 'Take the setting from config, through the options you are given.',
    properties: [['process', 'env']],
    imports: [[['process'], ['env']]],
  },
  {
    homes: ['src/platform/node/http-client.ts', 'src/client/client.ts'],
    message: 'Use the HTTP client that you are given (platform/node/http-client.ts).',
    globals: ['fetch'],
    imports: [
      [
        ['http', 'https'],
        ['request', 'get', 'Agent'],
      ],
    ],
  },
  {
    homes: ['src/platform/clock.ts', 'src/client/client.ts'],
    message: 'Use the Clock that you are given: clock.now(), clock.elapsed().',
    properties: [
      ['Date', 'now'],
      ['performance', 'now'],
    ],
    syntax: [
      'NewExpression[callee.name="Date"][arguments.length=0]',
      'CallExpression[callee.name="Date"]',
    ],
  },
  {
    homes: [],
    message: 'Use the log, or the output stream that you are given.',
    globals: ['console'],
  },
  {
    homes: [],
    message: 'Set process.exitCode. The process ends when nothing is left to do.',
    properties: [['process', 'exit']],
    imports: [[['process'], ['exit']]],
  },
  {
    homes: [
      'src/journal/sqlite/connect.ts',
      // Copies pages as they are.
      'src/journal/sqlite/write-log.js',
      'src/platform/node/temporary-tables.ts',
      'src/platform/node/directory-lock.ts',
    ],
    message: 'Use journal/sqlite/connect.ts, so that what is erased is overwritten.',
    syntax: ['NewExpression[callee.name="DatabaseSync"]'],
  },
  {
    homes: [],
    message: 'pino prints what was thrown under the key `err` only; a text is a `reason`.',
    syntax: [
      'CallExpression[callee.property.name=/^(trace|debug|info|warn|error|fatal)$/] > ObjectExpression > Property[key.name="error"]',
    ],
  },
  {
    homes: ['src/platform/node/durable-file.ts'],
    message: 'Use platform/node/durable-file.ts, which knows what has to be synced in which order.',
    syntax: [
      'Identifier[name=/^f(data)?sync(Sync)?$/]',
      'CallExpression[callee.property.name=/^(data)?sync$/][arguments.length=0]',
    ],
  },
]

const noBarrel = {
  selector: 'ExportAllDeclaration, ExportNamedDeclaration[source]',
  message: 'Do not re-export: import it from the file that defines it.',
}

/** The blocks of ESLint's configuration for `src/`. */
export function confinedBlocks() {
  const homes = new Set(confined.flatMap((it) => it.homes))
  return [
    { files: ['src/**'], rules: rulesFor(confined) },
    ...[...homes].map((home) => ({
      files: [home],
      rules: rulesFor(confined.filter((it) => !it.homes.includes(home))),
    })),
  ]
}

function rulesFor(all) {
  const each = (key, option) =>
    all.flatMap((it) => (it[key] ?? []).map((form) => option(form, it.message)))
  const paths = each('imports', ([modules, importNames], message) =>
    modules
      .flatMap((name) => [name, `node:${name}`])
      .map((name) => ({ name, importNames, message })),
  )
  return {
    'no-restricted-globals': [
      'error',
      { globals: each('globals', (name, message) => ({ name, message })), checkGlobalObject: true },
    ],
    'no-restricted-properties': [
      'error',
      ...each('properties', ([object, property], message) => ({ object, property, message })),
    ],
    'no-restricted-imports': ['error', { paths: paths.flat() }],
    'no-restricted-syntax': [
      'error',
      noBarrel,
      ...each('syntax', (selector, message) => ({ selector, message })),
    ],
  }
}
