import { z } from 'zod'
import type { Clock } from '../platform/clock.ts'
import { parseObject } from '../signup/json.ts'
import { limits } from '../signup/limits.ts'
import { algorithm, fromHex, keyOf, type Puzzle, toHex } from './puzzle.ts'
import type { Attempt, Rejected, Verdict } from './challenge.ts'

/**
 * What a puzzle asks for: to count up from 0 to a secret number below `stepsMax`, with one key derivation of
 * `cost` rounds for each number. Every number is as likely: if there were a lowest one, a bot would begin there.
 *
 * Measured on two cores, one step at a time: a step takes 0.8 ms in Node, 0.7 to 1.0 ms in Chromium 156, and
 * 2.3 to 2.7 ms there with the processor throttled four times. Of 25 puzzles half took less than 0.3 s, or 1.03 s
 * throttled. By the steps, the median is 0.3 to 0.45 s, or 1.0 to 1.2 s throttled, and the longest twice that.
 */
export const work = { cost: 5_000, stepsMax: 900 }

const keyLength = 32
/** How many digits of the key a puzzle gives away, so that its solver knows when it is done. */
const prefixDigits = 32
/** Shorter than the journal remembers what was spent. */
const lifeSeconds = 5 * 60

/** Has the keys of a site. */
export interface SiteKeys {
  /** A key for this use, which all instances share: 32 bytes. */
  keyFor(use: string): Uint8Array<ArrayBuffer>
}

/** The challenge that needs no third party: the visitor's browser solves a puzzle. */
export function createProofOfWork(site: SiteKeys, clock: Pick<Clock, 'now'>) {
  const ofPuzzles = signer(site.keyFor('proof of work'))
  const ofSolutions = signer(site.keyFor('solution of a proof of work'))
  return {
    isForTests: false,

    /** Makes a puzzle. It takes one key derivation, which the runtime does outside of the event loop. */
    makePuzzle: async (): Promise<Puzzle> => {
      const nonce = toHex(crypto.getRandomValues(new Uint8Array(16)))
      const salt = toHex(crypto.getRandomValues(new Uint8Array(16)))
      const [random = 0] = crypto.getRandomValues(new Uint32Array(1))
      const { cost, stepsMax } = work
      const key = await keyOf(random % stepsMax, { nonce, salt, cost, keyLength })
      // In the order of their names, because ALTCHA's library signs them so.
      const parameters = {
        algorithm,
        cost,
        expiresAt: Math.floor(clock.now() / 1000) + lifeSeconds,
        keyLength,
        keyPrefix: key.slice(0, prefixDigits),
        keySignature: await ofSolutions.sign(fromHex(key)),
        nonce,
        salt,
      }
      return { parameters, signature: await ofPuzzles.sign(bytesOf(parameters)) }
    },

    async verify({ token }: Attempt): Promise<Verdict> {
      if (token === undefined) return rejected('there is no token')
      if (token.length > limits.tokenCharactersMax) return rejected('the token is too long')
      const solved = solvedSchema.safeParse(parseObject(decodeBase64(token)))
      if (!solved.success) return rejected('the token is no solution of a puzzle')
      const { parameters, signature } = solved.data.challenge
      const { derivedKey } = solved.data.solution
      if (!(await ofPuzzles.verify(signature, bytesOf(parameters)))) {
        return rejected('the puzzle is forged or of another site')
      }
      // They are ours: nobody else can sign them.
      const { expiresAt, keySignature, nonce } = parameters as unknown as Puzzle['parameters']
      if (expiresAt * 1000 < clock.now()) return rejected('the puzzle has expired')
      if (!(await ofSolutions.verify(keySignature, fromHex(derivedKey)))) {
        return rejected('the solution is wrong')
      }
      // The same solution can be written in many ways, but has one nonce.
      return { kind: 'passed', spent: nonce }
    },
  }
}

function rejected(reason: string): Rejected {
  return { kind: 'rejected', reason }
}

/** 32 bytes in the way that `toHex` writes them. */
const bytes32 = z.string().regex(/^[0-9a-f]{64}$/)

/** A token. Its parameters are not known to be ours until their signature was checked. */
const solvedSchema = z.object({
  challenge: z.object({ parameters: z.record(z.string(), z.unknown()), signature: bytes32 }),
  // The counter needs no check: only the right one leads to the key. ALTCHA's library wants this type.
  solution: z.object({ counter: z.uint32(), derivedKey: bytes32 }),
})

/** Characters up to U+00FF, or an empty text when the given one is no base64. */
function decodeBase64(text: string): string {
  try {
    return atob(text)
  } catch {
    return ''
  }
}

/** What is signed of parameters: their JSON with the names in order, without white space. */
function bytesOf(parameters: Readonly<Record<string, unknown>>): Uint8Array<ArrayBuffer> {
  const sorted = Object.entries(parameters).sort(([a], [b]) => (a < b ? -1 : 1))
  return new TextEncoder().encode(JSON.stringify(Object.fromEntries(sorted)))
}

/** Signs bytes with HMAC-SHA-256, and verifies such signatures: 64 hexadecimal digits. */
function signer(secret: Uint8Array<ArrayBuffer>) {
  const hmac = { name: 'HMAC', hash: 'SHA-256' }
  const key = crypto.subtle.importKey('raw', secret, hmac, false, ['sign', 'verify'])
  return {
    sign: async (bytes: Uint8Array<ArrayBuffer>) =>
      toHex(new Uint8Array(await crypto.subtle.sign(hmac, await key, bytes))),
    verify: async (signature: string, bytes: Uint8Array<ArrayBuffer>) =>
      crypto.subtle.verify(hmac, await key, fromHex(signature), bytes),
  }
}
