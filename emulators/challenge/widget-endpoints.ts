import { join } from 'node:path'
import { buildSync } from 'esbuild'
import { z } from 'zod'
import { type Call, drop, hold, jsonAnswer, type Reply, textAnswer } from './answer.ts'
import type { EmulatedChallenge } from './emulator.ts'
import { providerNames, type ProviderName } from './providers.ts'
import { waited } from './verify-endpoint.ts'

const solveSchema = z.object({
  provider: z.enum(providerNames),
  siteKey: z.string(),
  hostname: z.string(),
  action: z.string(),
  cdata: z.string(),
  ticked: z.boolean(),
})

/** The script that a page loads, or what the switches put in its place. */
export async function answerScript(
  challenge: EmulatedChallenge,
  provider: ProviderName,
): Promise<Reply> {
  const { script, scriptDelayMs } = challenge.widget
  await waited(challenge, scriptDelayMs)
  switch (script) {
    case 'missing':
      return textAnswer(404, 'Not Found')
    case 'drop':
      return drop
    case 'hang':
      return hold
    case 'ok':
      challenge.scripts += 1
      return scriptAnswer(provider)
  }
}

/** The frame that a widget shows, its script, and the tokens it asks for. */
export async function answerFrame(challenge: EmulatedChallenge, call: Call): Promise<Reply> {
  const { method, target, body } = call
  switch (`${method} ${target.pathname}`) {
    case 'GET /widget/frame':
      return frameAnswer
    case 'GET /widget/frame.js':
      return scriptAnswer('frame')
    case 'GET /widget/frame.css':
      return { status: 200, headers: { 'Content-Type': 'text/css' }, body: frameStyle }
    case 'POST /widget/solve': {
      const request = solveSchema.parse(JSON.parse(body))
      await waited(challenge, challenge.widget.solveMs)
      return jsonAnswer(200, challenge.solve(request))
    }
    default:
      return textAnswer(404, 'Not Found')
  }
}

const frameAnswer = {
  status: 200,
  headers: {
    'Content-Type': 'text/html; charset=UTF-8',
    'Content-Security-Policy':
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'",
  },
  body: `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>Emulated challenge</title>
    <link rel="stylesheet" href="/widget/frame.css" />
    <script src="/widget/frame.js" defer></script>
  </head>
  <body>
    <p role="status" id="status">Checking …</p>
    <label id="ask" hidden><input type="checkbox" id="box" /> I am a person (emulated)</label>
  </body>
</html>
`,
}

const frameStyle = `:root { color-scheme: light dark; font: 14px/1.4 system-ui, sans-serif }
body { margin: 0; padding: 20px 12px; border: 1px dashed GrayText; box-sizing: border-box; height: 100vh }
p { margin: 0 }
`

const bundles = new Map<string, string>()

/** The browser code is TypeScript of its own; bundled when it is first asked for. */
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
