import { makeFullSignup } from '../../harness/make-signup.ts'
import type { GoogleWorld } from '../../harness/google-world.ts'
import type { Signup } from '../../src/signup/signup.ts'
import type { Removed, Spreadsheet } from '../../src/spreadsheet/spreadsheet.ts'
import { makeBatch, testSignal } from './spreadsheet-contract.ts'

export type Handle = ReturnType<GoogleWorld['emulator']['spreadsheet']>

/** Signups of several people, some of them in the same moment. */
export function people(count: number, sheetTab = 'Sheet1'): Signup[] {
  return Array.from({ length: count }, (_, at) =>
    makeFullSignup({
      email: `Person${at}@example.com`,
      sheetTab,
      receivedAt: Date.UTC(2026, 10, 20) + Math.floor(at / 2),
    }),
  )
}

/** Calls `remove` until nothing of these signups is left; at most `triesMax` times. */
export async function removeAll(
  spreadsheet: Spreadsheet,
  signups: readonly Signup[],
  triesMax = 40,
): Promise<Removed | undefined> {
  for (let tries = 0; tries < triesMax; tries++) {
    const result = await spreadsheet.remove(signups, testSignal)
    if (result.kind === 'removed' && result.standing.every((count) => count === 0)) return result
  }
  return undefined
}

export async function write(
  spreadsheet: Spreadsheet,
  number: number,
  signups: readonly Signup[],
): Promise<void> {
  const [first] = signups
  const batch = makeBatch(number, { [first?.sheetTab ?? '']: signups })
  const result = await spreadsheet.write(batch, testSignal)
  if (result.kind !== 'applied') throw new Error(`The rows were not written: ${result.kind}`)
}

/** The rows of all tabs that are not empty, sorted: what people must not lose. */
export function contents(handle: Handle): string[] {
  return handle
    .titles()
    .flatMap((title) => handle.rows(title))
    .filter((row) => row.length > 0)
    .map((row) => JSON.stringify(row.filter((cell) => cell !== '').sort()))
    .sort()
}
