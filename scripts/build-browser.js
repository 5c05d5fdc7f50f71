/**
 * Builds the scripts for browsers from browser/ into dist/. scripts/setup.js runs it when the sources are
 * newer, so it is plain JavaScript for any Node from 20.
 *
 * usage: node scripts/build-browser.js
 */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, parse } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
/** Works in browsers released since spring 2024. The newest that we need is Safari 17.5. */
const target = ['chrome123', 'firefox120', 'safari17.5']

/**
 * Writes `dist/embed.js` and what it loads when needed: `embed/later.js` and `embed/<language>.json`;
 * `embed/widget.js` and `embed/puzzle.js` for a challenge; `embed/author.js` for mistakes of the page's author; `embed/fields/<language>.js` and `embed/fields.css`
 * for forms with fields;
 * `embed/frame.js` for pages with our form in a frame; `assets/page.js` and `page.css` for our own pages;
 * `assets/admin.js` and `admin.css` for the admin page.
 */
export async function buildBrowser() {
  await mkdir(join(root, 'dist/embed'), { recursive: true })
  await mkdir(join(root, 'dist/assets'), { recursive: true })
  const ofPages = await languagesIn('src/pages/languages')
  // A form without a heading and a line below it has none in any language.
  for (const [language, own] of await languagesIn('browser/languages')) {
    const texts = { ...own, ...sharedTexts(ofPages.get(language)) }
    await writeFile(join(root, 'dist/embed', `${language}.json`), JSON.stringify(texts))
  }
  for (const [language, { fields }] of ofPages) {
    const define = { fieldTexts: JSON.stringify(fields) }
    await bundle('field-messages.ts', `embed/fields/${language}.js`, 'esm', define)
  }
  await bundle('controller.ts', 'embed/later.js', 'esm')
  await bundle('widget.ts', 'embed/widget.js', 'esm')
  await bundle('puzzle.ts', 'embed/puzzle.js', 'esm')
  await bundle('author.ts', 'embed/author.js', 'esm')
  await bundle('frame.ts', 'embed/frame.js', 'iife')
  await bundle('page.ts', 'assets/page.js', 'iife')
  await style('browser/fields.css', 'embed/fields.css')
  await style('src/pages/page.css', 'assets/page.css')
  await bundle('admin.ts', 'assets/admin.js', 'iife')
  await style('src/admin/admin.css', 'assets/admin.css')
  // Write this file last: scripts/setup.js goes by its age.
  await bundle('embed.ts', 'embed.js', 'iife')
}

async function languagesIn(folder) {
  const names = await readdir(join(root, folder))
  const texts = names.map((name) => readFile(join(root, folder, name), 'utf8'))
  const read = await Promise.all(texts)
  return new Map(read.map((text, at) => [parse(names[at]).name, JSON.parse(text)]))
}

/** The texts that the embed has in common with the pages. */
function sharedTexts({ form, fields, thanks, pending, closing }) {
  const { email, name, optional, choose, leaveEmpty, submit, again } = form
  const { emailMissing, emailWrong, nameMissing, consentMissing } = fields
  const ofFields = { emailMissing, emailWrong, nameMissing, consentMissing }
  const [title, pendingText, pendingSpam] = pending.split('\n')
  const ofThanks = { next: thanks.next, waiting: closing.waitingText }
  const ofMail = { pending: title, pendingText, pendingSpam, again }
  return { email, name, optional, choose, leaveEmpty, submit, ...ofFields, ...ofThanks, ...ofMail }
}

async function style(entry, outfile) {
  await writeFile(join(root, 'dist', outfile), await minified(join(root, entry)))
}

function bundle(entry, outfile, format, define = {}) {
  return build({
    entryPoints: [join(root, 'browser', entry)],
    outfile: join(root, 'dist', outfile),
    bundle: true,
    minify: true,
    format,
    target,
    define,
    legalComments: 'none',
    plugins: [minifiedCss],
    logLevel: 'warning',
  })
}

/** Lets an imported stylesheet be its text. */
const minifiedCss = {
  name: 'minified-css',
  setup({ onLoad }) {
    onLoad({ filter: /\.css$/ }, async ({ path }) => ({
      contents: await minified(path),
      loader: 'text',
    }))
  },
}

/** A stylesheet with those that it imports. */
async function minified(path) {
  const options = { bundle: true, minify: true, target, write: false, logLevel: 'warning' }
  const { outputFiles } = await build({ entryPoints: [path], ...options })
  // esbuild leaves the spaces in custom properties, and around these two signs.
  return outputFiles[0].text
    .trim()
    .replaceAll(/([,:]) /g, '$1')
    .replaceAll(/(\d) ([*/]) /g, '$1$2')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildBrowser()
