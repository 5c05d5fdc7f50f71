import { runInNewContext } from 'node:vm'
import { transform } from '@astrojs/compiler'
import { build, type OnLoadResult } from 'esbuild'
import { compile } from 'svelte/compiler'
import { compileScript, parse } from 'vue/compiler-sfc'
import { projectRoot } from '../../harness/source-file.ts'

/** The real compiler of each framework. */
const compilers = {
  react: (code: string): OnLoadResult => ({ contents: code, loader: 'jsx' }),
  vue: compileVue,
  svelte: (code: string): OnLoadResult => {
    const { js, warnings } = compile(code, { filename: 'signup.svelte', dev: true })
    expectNone(warnings)
    return { contents: js.code, loader: 'js' }
  },
}

export type Framework = keyof typeof compilers

/**
 * A script that gives its page `mountSnippet(box, props)`, which shows the component and returns a
 * function that removes it. The framework is in development mode, so that it complains about mistakes.
 */
export async function bundleComponent(framework: Framework, code: string): Promise<string> {
  const name = framework === 'react' ? 'Signup' : 'default'
  const entry = `
    import { mount } from './test/docs/mounts/${framework}.js'
    import { ${name} as component } from 'component'
    window.mountSnippet = (box, props) => mount(component, box, props)`
  return bundle(entry, () => compilers[framework](code))
}

/** The HTML of a static component, made by Astro's compiler and by a small runtime of our own. */
export async function renderAstro(code: string, props: object): Promise<string> {
  const entry = `
    import component from 'component'
    const result = { createAstro: (props) => ({ props }) }
    globalThis.rendered = component(result, ${JSON.stringify(props)})`
  const script = await bundle(entry, async () => {
    const { code: contents, diagnostics } = await transform(code, {
      internalURL: './test/docs/mounts/astro-runtime.js',
    })
    expectNone(diagnostics)
    // As TypeScript, because esbuild drops its unused imports.
    return { contents, loader: 'ts' }
  })
  const page: { rendered?: string } = {}
  runInNewContext(script, page)
  return page.rendered ?? ''
}

async function bundle(
  entry: string,
  component: () => OnLoadResult | Promise<OnLoadResult>,
): Promise<string> {
  const { outputFiles, warnings } = await build({
    stdin: { contents: entry, resolveDir: projectRoot },
    bundle: true,
    format: 'iife',
    jsx: 'automatic',
    jsxDev: true,
    conditions: ['development', 'browser', 'svelte'],
    define: {
      'process.env.NODE_ENV': '"development"',
      __VUE_OPTIONS_API__: 'true',
      __VUE_PROD_DEVTOOLS__: 'false',
      __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: 'false',
    },
    write: false,
    logLevel: 'silent',
    plugins: [
      {
        name: 'component',
        setup({ onResolve, onLoad }) {
          onResolve({ filter: /^component$/ }, ({ path }) => ({ path, namespace: 'component' }))
          onLoad({ filter: /.*/, namespace: 'component' }, async () => ({
            resolveDir: projectRoot,
            ...(await component()),
          }))
        },
      },
    ],
  })
  expectNone(warnings)
  return outputFiles[0]?.text ?? ''
}

function compileVue(code: string): OnLoadResult {
  const { descriptor, errors } = parse(code, { filename: 'signup.vue' })
  expectNone(errors)
  const { content, warnings } = compileScript(descriptor, { id: 'signup', inlineTemplate: true })
  expectNone(warnings ?? [])
  return { contents: content, loader: 'js' }
}

function expectNone(complaints: readonly unknown[]): void {
  if (complaints.length > 0)
    throw new Error(`The component compiles with ${JSON.stringify(complaints)}`)
}
