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
export async function readAssets(site: SiteConfig, log: Logger): Promise<readonly StaticFile[]> {
  return [...(await browserFiles(site, log)), await stylesheet(site), await configSchema()]
}

/** For editors, which complete the file of `ROLLCALL_CONFIG` with it. */
async function configSchema(): Promise<StaticFile> {
  const content = await readFile(new URL('../../config.schema.json', import.meta.url))
  return staticFile('api/config.schema.json', content)
}

/** The files that `scripts/build-browser.js` has built. The set-up script runs it. */
async function browserFiles({ pages }: SiteConfig, log: Logger): Promise<readonly StaticFile[]> {
  const files = await readStaticFiles(fileURLToPath(new URL('../../dist', import.meta.url)))
  if (files.length === 0) {
    log.warn(
      '/embed.js is missing because it was not built: run node scripts/setup.js and start again',
    )
  }
  return Promise.all(
    files.map(async (file) => {
      if (file.path !== 'embed.js' || !pages.consent) return file
      const embed = withConsent(new TextDecoder().decode(file.bodies.identity), pages)
      return staticFile(file.path, new TextEncoder().encode(embed))
    }),
  )
}

/** The stylesheet of the pages, with the accent colour of the settings. */
async function stylesheet({ pages: { accent } }: SiteConfig): Promise<StaticFile> {
  const styles = await readFile(new URL('../pages/page.css', import.meta.url), 'utf8')
  const content = accent === undefined ? styles : styles + accentStyles(accent)
  return staticFile(stylesheetPath, new TextEncoder().encode(content))
}
