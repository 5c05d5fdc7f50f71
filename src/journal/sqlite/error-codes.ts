/** Whether it is an error of SQLite with one of these codes. An extended code counts as its base code. */
export function isOneOf(error: unknown, codes: readonly number[]): boolean {
  if (!(error instanceof Error) || !('errcode' in error)) return false
  return codes.includes(Number(error.errcode) & 0xff)
}
