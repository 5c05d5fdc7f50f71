import { join } from 'node:path'
import { buildSync } from 'esbuild'
import { z } from 'zod'
import { type Call, hold, jsonAnswer, type Reply, textAnswer } from './answer.ts'
import type { EmulatedChallenge } from './emulator.ts'
import { providerNames, type ProviderName } from './providers.ts'

const solveSchema = z.object({
  provider: z.enum(providerNames),
  siteKey: z.string(),
  hostname: z.string(),
  ticked: z.boolean(),
})

/** Answers with the script for pages, or as the switches say. */
export function answerScript(challenge: EmulatedChallenge, provider: ProviderName): Reply {
  switch (challenge.widget.script) {
    case 'missing':
      return textAnswer(404, 'Not Found')
    case 'hang':
      return hold
    case 'ok':
      challenge.scripts += 1
      return scriptAnswer(provider)
  }
}

/** Answers with the widget's frame, its script, and the tokens that it asks for. */
export function answerFrame(challenge: EmulatedChallenge, { method, target, body }: Call): Reply {
  switch (`${method} ${target.pathname}`) {
    case 'GET /widget/frame':
      return frameAnswer
    case 'GET /widget/frame.js':
      return scriptAnswer('frame')
    case 'POST /widget/solve':
      return jsonAnswer(200, challenge.solve(solveSchema.parse(JSON.parse(body))))
    default:
      return textAnswer(404, 'Not Found')
  }
}

const frameAnswer = {
  status: 200,
  headers: {
    'Content-Type': 'text/html; charset=UTF-8',
    'Content-Security-Policy': "default-src 'none'; script-src 'self'; connect-src 'self'",
  },
  body: `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>Emulated challenge</title>
    <script src="/widget/frame.js" defer></script>
  </head>
  <body>
    <p role="status" id="status">Checking …</p>
    <label id="ask" hidden><input type="checkbox" id="box" /> I am a person (emulated)</label>
  </body>
</html>
`,
}

const bundles = new Map<string, string>()

/** Bundles a script of `widget/` when it is first requested. */
function scriptAnswer(name: ProviderName | 'frame'): Reply {
  const body = bundles.get(name) ?? bundle(name)
  bundles.set(name, body)
  return { status: 200, headers: { 'Content-Type': 'text/javascript; charset=UTF-8' }, body }
}

function bundle(name: string): string {
  const entry = join(import.meta.dirname, 'widget', `${name}.ts`)
  const { outputFiles } = buildSync({
    entryPoints: [entry],
    bundle: true,
    format: 'iife',
    target: 'es2022',
    write: false,
  })
  return outputFiles[0]?.text ?? ''
}
