/** 1 when the texts are equal, else 0, in constant time. Both texts must have the same length. */
export function isEqual(one: string, other: string): 0 | 1 {
  let difference = 0
  for (let at = 0; at < one.length; at++) difference |= one.charCodeAt(at) ^ other.charCodeAt(at)
  return difference === 0 ? 1 : 0
}
