import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { SiteConfig } from '../config/site.ts'
import type { Logger } from '../ops/log.ts'
import { accentStyles } from '../pages/accent.ts'
import { stylesheetPath } from '../pages/document.ts'
import { withConsent } from '../pages/embed-consent.ts'
import { readStaticFiles, staticFile } from '../platform/node/static-files.ts'
import type { StaticFile } from '../platform/static-file.ts'

/** All files for pages of every origin: those built from `browser/`, the stylesheet, and the schema of the settings. */
export async function readAssets(log: Logger): Promise<readonly StaticFile[]> {
  const styles = await readFile(new URL('../pages/page.css', import.meta.url))
  const stylesheet = await staticFile(stylesheetPath, styles)
  return [...(await browserFiles(log)), stylesheet, await configSchema()]
}

/** For editors, which complete the file of `ROLLCALL_CONFIG` with it. */
async function configSchema(): Promise<StaticFile> {
  const content = await readFile(new URL('../../config.schema.json', import.meta.url))
  return staticFile('api/config.schema.json', content)
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

/** The files as a site serves them: the stylesheet with its accent colour, the embed with its consent. */
export class SiteFiles {
  readonly #pages: SiteConfig['pages']
  readonly #made = new Map<string, Promise<StaticFile>>()

  constructor({ pages }: Pick<SiteConfig, 'pages'>) {
    this.#pages = pages
  }

  /** Makes a changed file at its first use, because compressing those of a hundred sites takes seconds. */
  get(file: StaticFile): StaticFile | Promise<StaticFile> {
    const known = this.#made.get(file.path)
    if (known) return known
    const text = this.#changed(file)
    if (text === undefined) return file
    const made = staticFile(file.path, new TextEncoder().encode(text))
    this.#made.set(file.path, made)
    return made
  }

  #changed({ path, bodies }: StaticFile): string | undefined {
    const { accent, consent } = this.#pages
    const content = () => new TextDecoder().decode(bodies.identity)
    if (path === stylesheetPath && accent !== undefined) return content() + accentStyles(accent)
    if (path === 'embed.js' && consent) return withConsent(content(), this.#pages)
    return undefined
  }
}
