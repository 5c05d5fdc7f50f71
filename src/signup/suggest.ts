import { editDistance } from './edit-distance.ts'

/** Longer names are not typing errors. The cost of comparing is the product of both lengths. */
const nameCharactersMax = 20

/** The known name that `name` was probably meant to be: `email` for `e-mail` or `emial`. */
export function suggest(name: string, known: readonly string[]): string | undefined {
  if (name.length > nameCharactersMax) return undefined
  const typed = bare(name)
  return known.find((candidate) => {
    const meant = bare(candidate)
    const errorsMax = meant.length < 8 ? 1 : 2
    return editDistance(typed, meant) <= errorsMax
  })
}

function bare(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '')
}
