// @module-tag slow
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { essence, extractCommands, npmScriptsIn, scriptsMarked } from './readme-commands.ts'
import { environmentOfAnyProgram } from '../../harness/environment.ts'
import { projectRoot } from '../../harness/source-file.ts'
import { startService } from '../../harness/start-service.ts'
import type { RunningService } from '../../harness/start-service.ts'

const documentedUrl = 'http://localhost:3000'
/** The working folder, as pages show it. */
const documentedFolder = '/home/ada'

const docs = readdirSync(join(projectRoot, 'docs'), { recursive: true, encoding: 'utf8' })
const pages = ['README.md', 'CONTRIBUTING.md', ...docs.map((path) => `docs/${path}`)]
  .filter((path) => path.endsWith('.md'))
  .map((path) => ({ path, text: readFileSync(join(projectRoot, path), 'utf8') }))
  .map(({ path, text }) => ({ path, text, commands: extractCommands(path, text) }))

test('the README has commands that are run here', () => {
  const readme = pages.find(({ path }) => path === 'README.md')
  expect(readme?.commands.length).toBeGreaterThan(3)
})

test.each(pages)('the npm scripts that $path names exist', ({ text }) => {
  const manifest = readFileSync(join(projectRoot, 'package.json'), 'utf8')
  expect(JSON.parse(manifest)).toMatchObject({
    scripts: Object.fromEntries(npmScriptsIn(text).map((name) => [name, expect.any(String)])),
  })
})

// The commands of a page run in order against one service, as later ones build on earlier ones.
describe.each(pages.filter(({ commands }) => commands.length > 0))(
  '$path',
  ({ text, commands }) => {
    const [sites] = scriptsMarked('config', text)
    const env = sites === undefined ? {} : { ROLLCALL_CONFIG: sites }
    let service: RunningService

    beforeAll(async () => {
      service = await startService({ env })
    })

    afterAll(() => service[Symbol.asyncDispose]())

    test.each(commands)('line $line: $script', async ({ script, answer }) => {
      const ours = script
        .replaceAll(documentedUrl, service.url)
        .replaceAll('npm run -s rollcall --', `${process.execPath} ${projectRoot}/src/start.js`)
      const run = async () => {
        const printed = await runScript(ours, service.folder, env)
        return printed
          .replaceAll(service.url, documentedUrl)
          .replaceAll(service.folder, documentedFolder)
      }
      if (answer === undefined) {
        await run()
        return
      }
      const { language, text } = answer
      const shown = essence(language, text)
      const answered = async () => essence(language, await run(), text)
      // A row is in its file a moment after the answer, so look again, as a person would.
      const showsRows = language === 'csv' || script.includes('/api/ready')
      if (showsRows) await expect.poll(answered).toEqual(shown)
      else expect(await answered()).toEqual(shown)
    })
  },
)

/** Returns what the script prints to stdout. Rejects with all that it printed when it fails. */
async function runScript(script: string, folder: string, settings: object): Promise<string> {
  const env = { ...environmentOfAnyProgram(), DATA_DIR: join(folder, 'data'), ...settings }
  const { stdout } = await promisify(execFile)('sh', ['-ec', script], { cwd: folder, env })
  return stdout
}
