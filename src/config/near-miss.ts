import { editDistance } from '../signup/edit-distance.ts'

/** How long a name has to be, so that one like it, or with a letter or two wrong, is no other's. */
const lengthMin = 8
const lengthForOneEdit = 9
const lengthForTwoEdits = 12

/**
 * The setting that a variable was clearly meant to be. The environment is full of the names of other
 * programs, so it has to have the words of the setting, whatever their case, underscores and plural;
 * or, in a long name, a letter or two wrong; or it is how one setting begins and no other. `HOST` and
 * `PORT` are told from nothing.
 */
export function nearMiss(given: string, names: readonly string[]): string | undefined {
  const tellable = names.filter((name) => name.length >= lengthMin)
  const words = wordsOf(given)
  const longer = tellable.filter((name) => words.length > 1 && beginsWith(wordsOf(name), words))
  return (
    tellable.find((name) => wordsOf(name).join('') === words.join('')) ??
    tellable.find((name) => editDistance(given.toUpperCase(), name) <= editsMax(name)) ??
    (longer.length === 1 ? longer[0] : undefined)
  )
}

/** In capitals, in the singular. */
function wordsOf(name: string): string[] {
  const words = name.toUpperCase().split(/[_-]+/)
  return words.map((word) => word.replace(/IES$/, 'Y').replace(/S$/, ''))
}

function beginsWith(words: readonly string[], first: readonly string[]): boolean {
  return first.every((word, index) => words[index] === word)
}

function editsMax(name: string): number {
  if (name.length >= lengthForTwoEdits) return 2
  return name.length >= lengthForOneEdit ? 1 : 0
}
