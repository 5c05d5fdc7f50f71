import type { Problem } from '../src/signup/wire.ts'
import { isOption, simpleOptions } from './options.ts'
import { tell } from './tell.ts'

/** Attributes that other tools put on script tags. */
const ofOtherTools =
  /^data-(v-|astro-|svelte-|react|rh$|n-head|hid$|nscript|cf|rocket|no-|minify|pagespeed|turbo|wp-|cookie|category|usercentrics|uc-|iub|borlabs|drupal|precedence|testid)/

const options = `${simpleOptions}|text-…|field-…`.replaceAll('|', ', ')

/** Tells which of these names are no options. */
function unknown(names: readonly string[]): void {
  tell(`${names.join(', ')}: no such option. The options are ${options}.`)
}

/** Tells what is wrong with a script tag. */
function tag(script: HTMLScriptElement): void {
  const given = script.getAttributeNames().filter((it) => it.startsWith('data-'))
  const odd = given.filter((it) => !isOption(it) && !ofOtherTools.test(it))
  if (odd[0]) unknown(odd)
  if (!script.closest('body') && given.some(isOption))
    tell('A script tag in <head> draws no form. Put it into <body>, to the place of the form.')
}

/** Tells what the service refuses, in its own words. */
function refused(address: string, status: number, problem: Problem | undefined): void {
  const errors = problem?.errors?.map(({ field, message }) => `${field}: ${message}`)
  tell(`${address} answered ${status}. ${errors?.join(' ') ?? problem?.detail ?? ''}`.trim())
}

/** Tells that the form is not drawn, because there is no such site, or none is named where there are several. */
function noSite(site: string | undefined, why: string | undefined): void {
  tell(`No form is drawn with ${site ? `the site "${site}"` : 'no option site'}. ${why ?? ''}`)
}

/** What the page's author reads in the console. It is loaded when there is something to tell. */
export const author = { tag, unknown, noSite, refused }

export type Author = typeof author
