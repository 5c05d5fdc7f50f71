import { configDefaults, defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['{src,test,harness,emulators,scripts,bench,attack}/**/*.test.ts'],
    // `npm run test:system`
    exclude: [...configDefaults.exclude, 'test/system/**'],
    // Two on two cores: by default, one core is left free.
    maxWorkers: '100%',
    // Tests start real processes and servers; a busy machine must not fail them.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    expect: { poll: { timeout: 20_000 } },
    allowOnly: false,
  },
})
