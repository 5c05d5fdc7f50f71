import { editDistance } from './edit-distance.ts'

/** Longer names are not typing errors. The cost of comparing is the product of both lengths. */
const nameCharactersMax = 32

/** The known name that `name` was probably meant to be: `email` for `e-mail` or `emial`. The nearest one. */
export function suggest(name: string, known: readonly string[]): string | undefined {
  if (name.length > nameCharactersMax) return undefined
  const typed = bare(name)
  const near = known.flatMap((candidate) => {
    const meant = bare(candidate)
    const errorsMax = meant.length < 8 ? 1 : 2
    if (Math.abs(meant.length - typed.length) > errorsMax) return []
    const errors = editDistance(typed, meant)
    // Of two names that are as near, one that only lacks a letter, or has one too many.
    const isPart = meant.startsWith(typed) || typed.startsWith(meant)
    return errors > errorsMax ? [] : [{ candidate, rank: 2 * errors - Number(isPart) }]
  })
  return near.toSorted((a, b) => a.rank - b.rank)[0]?.candidate
}

function bare(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '')
}
