import { createHash } from 'node:crypto'
import { tabKey } from '../../signup/signup.ts'

/** Longer names get a hash, so that a path stays within what Windows takes (260 characters). */
const plainCharactersMax = 64
const slugBytesMax = 60
/** 160 bits: finding two names with the same hash takes about 2^80 hashes. */
const hashHexDigits = 40

/** Matches a name without path separators and `~`, and without a dot or space at either end. */
const plainName = /^[A-Za-z0-9_-](?:[A-Za-z0-9_. -]*[A-Za-z0-9_-])?$/

/**
 * Matches names for which Windows opens a device, whatever follows the first dot.
 * https://learn.microsoft.com/windows/win32/fileio/naming-a-file
 */
const deviceName = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9]) *(?:\.|$)/i

/**
 * The name of a tab's file in the workbook's folder. All names of one tab (see `tabKey`) give the same
 * file name except for its case. Names of different tabs give different file names, even on file
 * systems that ignore case or normalise Unicode.
 */
export function fileName(tab: string): string {
  const key = tabKey(tab)
  // Check the key, because a name outside ASCII may have a key in ASCII, as K (Kelvin) has k.
  if (!isPlain(key)) return `${slug(key)}~${hash(key)}.csv`
  return `${isPlain(tab) ? tab : key}.csv`
}

function isPlain(name: string): boolean {
  return name.length <= plainCharactersMax && plainName.test(name) && !deviceName.test(name)
}

/** A readable form of a name: its letters and digits, with hyphens for the rest. */
function slug(key: string): string {
  let text = ''
  for (const character of key.replace(/[^\p{L}\p{M}\p{N}]+/gu, '-').replace(/^[-\p{M}]+/u, '')) {
    if (Buffer.byteLength(text + character) > slugBytesMax) break
    text += character
  }
  return text.replace(/-$/, '') || 'tab'
}

function hash(key: string): string {
  // Use UTF-16, because all lone surrogates are the same in UTF-8.
  return createHash('sha256').update(key, 'utf16le').digest('hex').slice(0, hashHexDigits)
}
