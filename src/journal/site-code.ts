import { randomBytes, randomInt } from 'node:crypto'

/** A site's code is a part of each batch's fingerprint, so that batches of different journals differ. */
export function newSiteCode(): string {
  return randomBytes(4).toString('hex')
}

/** Where a site's marker ids begin, so that markers of different journals differ. */
export function newMarkerBase(): number {
  return randomInt(2 ** 31)
}

/** The marker of a batch: an id of 1 to `idMax`. */
export function markerFor(base: number, batch: number, idMax: number): number {
  return ((base + batch) % idMax) + 1
}

export function fingerprintOf(code: string, batch: number, digest: string): string {
  return `${code}:${batch}:${digest}`
}

/**
 * The code of a site, and those of the journals that this one has replaced.
 *
 * @param replaced the value of `replacedCodesFact`
 */
export function codesOf(code: string, replaced: string | undefined): readonly string[] {
  return [code, ...(replaced ?? '').split(' ').filter((one) => one !== '')]
}

/** Whether a batch with this fingerprint is of a journal with one of these codes. */
export function isOfCodes(codes: readonly string[], fingerprint: string): boolean {
  return codes.some((code) => fingerprint.startsWith(`${code}:`))
}
