import type { Millis, Signup, SignupId } from '../../src/signup/signup.ts'

/** The end of every address, by which a cell is known to hold one. */
export const addressEnd = '@example.com'

/** The signup with this number in a simulation, with an address of its own. */
export function makeSignup(number: number, sheetTab: string, receivedAt: Millis): Signup {
  return {
    id: `00000000-0000-7000-8000-${String(number).padStart(12, '0')}` as SignupId,
    receivedAt,
    email: `person${number}${addressEnd}`,
    sheetTab,
    source: 'api',
    name: nameOf(number),
    tags: [],
    metadata: '',
    fields: {},
  }
}

/** The name of this person. Rows differ in size, and in the bytes that a character takes. */
export function nameOf(number: number): string {
  return 'é'.repeat((number * 37) % 90)
}
