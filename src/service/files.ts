import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Logger } from '../ops/log.ts'
import { accentStyles } from '../pages/accent.ts'
import { stylesheetPath } from '../pages/document.ts'
import { knownForm, withForm } from '../pages/embed-form.ts'
import type { PageOptions } from '../pages/view.ts'
import { readStaticFiles, staticFile } from '../platform/node/static-files.ts'
import type { StaticFile } from '../platform/static-file.ts'

/** For an embed whose script was loaded for another site. */
const formPath = 'embed/form.json'
const fieldStylesPath = 'embed/fields.css'

/** All files for pages of every origin: those that are built, and the schema of the settings. */
export async function readAssets(log: Logger): Promise<readonly StaticFile[]> {
  const form = staticFile(formPath, new TextEncoder().encode('{}'))
  // For editors, which complete the file of `ROLLCALL_CONFIG` with it.
  const schema = await readFile(new URL('../../config.schema.json', import.meta.url))
  const served = staticFile('api/config.schema.json', schema)
  return [...(await browserFiles(log)), form, served]
}

/** The files that `scripts/build-browser.js` has built. The set-up script runs it. */
async function browserFiles(log: Logger): Promise<readonly StaticFile[]> {
  const files = await readStaticFiles(fileURLToPath(new URL('../../dist', import.meta.url)))
  if (files.length === 0) {
    log.warn(
      '/embed.js is missing because it was not built: run node scripts/setup.js and start again',
    )
  }
  return files
}

type SiteOptions = Pick<PageOptions, 'pages' | 'site' | 'fields'>

/** The files as a site serves them: with its accent colour, its consent and its fields. */
export class SiteFiles {
  readonly #options: SiteOptions
  readonly #made = new Map<string, StaticFile>()

  constructor(options: SiteOptions) {
    this.#options = options
  }

  /** Makes a changed file from all files at its first use. */
  get(file: StaticFile, assets: readonly StaticFile[]): StaticFile {
    const known = this.#made.get(file.path)
    if (known) return known
    const text = this.#changed(file, assets)
    if (text === undefined) return file
    const made = staticFile(file.path, new TextEncoder().encode(text))
    this.#made.set(file.path, made)
    return made
  }

  #changed(file: StaticFile, assets: readonly StaticFile[]): string | undefined {
    const { path } = file
    const { accent } = this.#options.pages
    const fieldStyles = assets.find((asset) => asset.path === fieldStylesPath)
    const form = () => knownForm(this.#options, textOf(fieldStyles))
    if (path === stylesheetPath && accent !== undefined) return textOf(file) + accentStyles(accent)
    if (path === formPath) return JSON.stringify(form())
    if (path === 'embed.js') return withForm(textOf(file), form())
    return undefined
  }
}

/** The text of a file; empty when it was not built. */
function textOf(file: StaticFile | undefined): string {
  return new TextDecoder().decode(file?.content)
}
