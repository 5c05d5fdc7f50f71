import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { projectRoot } from '../../harness/source-file.ts'
import { atMost, type Scenario } from '../scenario.ts'

export const embedSizeScenario: Scenario = {
  name: 'embed-size',
  what: 'embed.js, gzipped',
  unit: 'bytes',
  reach: atMost(6 * 1024),
  aim: atMost(4 * 1024),
  async run() {
    const script = await readFile(join(projectRoot, 'dist', 'embed.js'))
    return { values: [gzipSync(script, { level: 9 }).byteLength], note: `${script.length} before` }
  },
}
