/** `npm run graph`: draws the imports between the rooms of `src/` into docs/architecture.svg. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { drawArchitecture } from './architecture.ts'

const path = join(import.meta.dirname, '../docs/architecture.svg')
await writeFile(path, await drawArchitecture())
