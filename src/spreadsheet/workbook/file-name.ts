import { createHash } from 'node:crypto'
import { tabKey } from '../../signup/signup.ts'

/** Longer names get a hash, so that a path stays within what Windows takes (260 characters). */
const plainCharactersMax = 64
const slugBytesMax = 60
/** 160 bits: to find two names that clash takes about 2^80 hashes. */
const hashHexDigits = 40

/** No path separator, no `~`, no dot or space at either end. */
const plainName = /^[A-Za-z0-9_-](?:[A-Za-z0-9_. -]*[A-Za-z0-9_-])?$/

/**
 * Windows opens a device under these names, whatever follows the first dot.
 * https://learn.microsoft.com/windows/win32/fileio/naming-a-file
 */
const deviceName = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9]) *(?:\.|$)/i

/**
 * The file of a tab inside the workbook's folder. Names of one tab (see `tabKey`) give one file
 * name, but for upper and lower case; names of two tabs give two, on file systems too that ignore
 * case or normalise Unicode.
 */
export function fileName(tab: string): string {
  const key = tabKey(tab)
  // The key decides: a name outside ASCII may be another spelling of one inside, as K (Kelvin) of k.
  if (!isPlain(key)) return `${slug(key)}~${hash(key)}.csv`
  return `${isPlain(tab) ? tab : key}.csv`
}

function isPlain(name: string): boolean {
  return name.length <= plainCharactersMax && plainName.test(name) && !deviceName.test(name)
}

/** What can be read of a name: its letters and digits, the rest as single hyphens. */
function slug(key: string): string {
  let text = ''
  for (const character of key.replace(/[^\p{L}\p{M}\p{N}]+/gu, '-').replace(/^[-\p{M}]+/u, '')) {
    if (Buffer.byteLength(text + character) > slugBytesMax) break
    text += character
  }
  return text.replace(/-$/, '') || 'tab'
}

function hash(key: string): string {
  // UTF-16, for in UTF-8 all lone surrogates are the same.
  return createHash('sha256').update(key, 'utf16le').digest('hex').slice(0, hashHexDigits)
}
