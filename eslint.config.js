import js from '@eslint/js'
import { defineConfig, globalIgnores } from 'eslint/config'
import tseslint from 'typescript-eslint'

// What these rules cannot see (who imports whom, confined calls, names) is in test/house/house-rules.ts.
export default defineConfig(
  globalIgnores(['data/', 'coverage/', 'dist/']),
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
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
    files: ['scripts/*.js'],
    languageOptions: {
      globals: { process: 'readonly', setInterval: 'readonly', clearInterval: 'readonly' },
    },
  },
)
