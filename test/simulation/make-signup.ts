/** The end of every address, by which a cell is known to hold one. */
export const addressEnd = '@example.com'

/** The name of this person. Rows differ in size, and in the bytes that a character takes. */
export function nameOf(number: number): string {
  return 'é'.repeat((number * 37) % 90)
}
