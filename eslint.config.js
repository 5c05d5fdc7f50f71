import js from '@eslint/js'
import vitest from '@vitest/eslint-plugin'
import checkFile from 'eslint-plugin-check-file'
import { defineConfig, globalIgnores } from 'eslint/config'
import tseslint from 'typescript-eslint'
import { confinedBlocks } from './scripts/lint-confined.js'
import { testLength } from './scripts/lint-test-length.js'

const tests = [
  '**/*.test.ts',
  '**/spreadsheet-contract.ts',
  '**/fields-contract.ts',
  '**/workbook-crashes.ts',
  '**/*.live.ts',
  '**/*.mutate.ts',
]
const functionLinesMax = 70

// Who may import whom is in .dependency-cruiser.js.
export default defineConfig(
  globalIgnores([
    'data/',
    'deploy/',
    'coverage/',
    'dist/',
    'package/',
    '.mutation/',
    'examples/types/',
  ]),
  js.configs.recommended,
  {
    plugins: { 'check-file': checkFile },
    rules: {
      'check-file/filename-naming-convention': [
        'error',
        { '**/*.{ts,js}': 'KEBAB_CASE' },
        { ignoreMiddleExtensions: true },
      ],
      'check-file/folder-naming-convention': ['error', { '**/*/': 'KEBAB_CASE' }],
      'check-file/filename-blocklist': [
        'error',
        {
          '**/{util,utils,helper,helpers,services,common}/**': '*a folder named after the domain*',
        },
      ],
      'max-lines-per-function': ['error', { max: functionLinesMax, IIFEs: true }],
      // Do it now, or file an issue.
      'no-warning-comments': [
        'error',
        { terms: ['to' + 'do', 'fix' + 'me', 'x' + 'xx'], location: 'anywhere' },
      ],
    },
  },
  {
    files: ['src/**', 'browser/**'],
    ignores: ['**/*.d.ts'],
    rules: {
      'no-restricted-exports': [
        'error',
        {
          restrictDefaultExports: {
            direct: true,
            named: true,
            defaultFrom: true,
            namedFrom: true,
            namespaceFrom: true,
          },
        },
      ],
    },
  },
  ...confinedBlocks(),
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: {
      parserOptions: {
        projectService: true,
        tsconfigRootDir: import.meta.dirname,
        // Each file would get the variables of the libraries anew, and no rule asks for them: the types have them.
        lib: [],
      },
    },
    rules: {
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/consistent-type-imports': 'error',
      // A number in a message reads well without String().
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      // `() => done()` and `return resolve()` are fine where nobody looks at the result.
      '@typescript-eslint/no-confusing-void-expression': [
        'error',
        { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true },
      ],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', destructuredArrayIgnorePattern: '^_', varsIgnorePattern: '^_' },
      ],
      // `() => {}` says "nothing to do" well enough.
      '@typescript-eslint/no-empty-function': 'off',
      'no-regex-spaces': 'off',
      // There are no enums here, and TypeScript takes no other object for a class with # members. Linting takes a
      // sixth longer with these two.
      '@typescript-eslint/no-unsafe-enum-assignment': 'off',
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      // An interface may promise what one implementation knows at once.
      '@typescript-eslint/require-await': 'off',
    },
  },
  {
    files: ['**/*.test.ts', 'test/**', 'harness/**'],
    rules: {
      // Vitest's matchers, as expect.any(String), are of type any.
      '@typescript-eslint/no-unsafe-assignment': 'off',
      // A test may pass a method of an object literal around.
      '@typescript-eslint/unbound-method': 'off',
    },
  },
  {
    files: tests,
    plugins: { vitest, house: { rules: { 'test-length': testLength } } },
    rules: {
      'max-lines-per-function': 'off',
      'house/test-length': ['error', functionLinesMax],
      'vitest/no-focused-tests': 'error',
      'vitest/no-disabled-tests': 'error',
      'vitest/warn-todo': 'error',
      'vitest/no-identical-title': 'error',
      'vitest/expect-expect': [
        'error',
        { assertFunctionNames: ['expect*', '**.expect*', 'fc.assert', '**.waitFor'] },
      ],
      'vitest/no-commented-out-tests': 'error',
      'vitest/no-standalone-expect': [
        'error',
        { additionalTestBlockFunctions: ['beforeAll', 'beforeEach', 'afterEach', 'afterAll'] },
      ],
      'vitest/no-duplicate-hooks': 'error',
      'vitest/valid-title': 'error',
      // Tests do what the service may not.
      'no-restricted-globals': 'off',
      'no-restricted-properties': 'off',
      'no-restricted-imports': 'off',
      'no-restricted-syntax': [
        'error',
        {
          selector:
            'VariableDeclaration[kind=/^(const|let)$/] > VariableDeclarator > AwaitExpression > CallExpression[callee.name=/^(startService|bootService|startByNpm)$/]',
          message: 'Use `await using`, so that the service ends when the test fails.',
        },
        {
          selector: 'MemberExpression[property.name="fails"][object.name=/^(test|it)$/]',
          message: 'Every test passes: mend or delete it.',
        },
      ],
    },
  },
  {
    files: ['examples/*.js'],
    languageOptions: {
      globals: {
        crypto: 'readonly',
        document: 'readonly',
        fetch: 'readonly',
        FormData: 'readonly',
        window: 'readonly',
      },
    },
  },
  {
    files: ['examples/webhooks/*.mjs'],
    languageOptions: { globals: { Buffer: 'readonly', console: 'readonly', process: 'readonly' } },
  },
  {
    files: ['scripts/*.js'],
    languageOptions: {
      globals: { process: 'readonly', setInterval: 'readonly', clearInterval: 'readonly' },
    },
  },
)
