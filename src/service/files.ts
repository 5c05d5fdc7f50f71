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
export const formPath = 'embed/form.json'
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

/**
 * The files as a site serves them: with its accent colour, its consent and its fields. A changed file is made from
 * all files at its first use; one that tells whether signups are open, once for each answer.
 */
export function siteFiles(
  site: Pick<PageOptions, 'pages' | 'site' | 'fields' | 'openness'>,
  assets: readonly StaticFile[],
): (file: StaticFile) => StaticFile {
  const { accent } = site.pages
  const fieldStyles = assets.find(({ path }) => path === fieldStylesPath)
  const form = () => knownForm(site, textOf(fieldStyles))
  const changed = (file: StaticFile) => {
    const { path } = file
    if (path === stylesheetPath && accent !== undefined) return textOf(file) + accentStyles(accent)
    if (path === formPath) return JSON.stringify(form())
    return path === 'embed.js' ? withForm(textOf(file), form()) : undefined
  }
  const none = () => new Map<StaticFile, StaticFile>()
  const made = { open: none(), overflow: none(), closed: none() }
  return (file) => {
    const files = made[tellsOpenness(file) ? site.openness() : 'open']
    const known = files.get(file)
    if (known) return known
    const text = changed(file)
    const own = text === undefined ? file : staticFile(file.path, new TextEncoder().encode(text))
    files.set(file, own)
    return own
  }
}

/** Whether a file of the embed tells what the site says of its closing. */
export function tellsOpenness({ path }: StaticFile): boolean {
  return path === formPath || path === 'embed.js'
}

/** The text of a file; empty when it was not built. */
function textOf(file: StaticFile | undefined): string {
  return new TextDecoder().decode(file?.content)
}
