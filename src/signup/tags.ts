import { limits } from './limits.ts'
import { cleanText } from './text.ts'

/** What is wrong with the tag at this place; without a place, with the whole list. */
interface TagProblem {
  readonly index?: number
  readonly message: string
}

/** More problems help nobody, and a body can hold half a million. */
const problemsMax = 20

/** Reads tags from a list or from a comma-separated string. Cleans them and drops empty ones. */
export function readTags(given: string | readonly unknown[]): {
  readonly tags: readonly string[]
  readonly problems: readonly TagProblem[]
} {
  const list = typeof given === 'string' ? (given.match(/[^,]+/g) ?? []) : given
  const tags: string[] = []
  const problems: TagProblem[] = []
  for (let index = 0; index < list.length; index++) {
    const tag = list[index]
    const text = typeof tag === 'string' ? cleanText(tag) : undefined
    if (text === '') continue
    if (text !== undefined) tags.push(text)
    const message = tagProblem(text)
    if (message) problems.push(typeof given === 'string' ? { message } : { index, message })
    if (tags.length > limits.tagsMax) {
      problems.push({ message: `Too many tags: at most ${limits.tagsMax}.` })
      break
    }
    if (problems.length === problemsMax) break
  }
  return { tags, problems }
}

function tagProblem(text: string | undefined): string | undefined {
  if (text === undefined) return 'A tag must be text.'
  if (text.length > limits.tagCharactersMax) {
    return `A tag is too long: at most ${limits.tagCharactersMax} characters.`
  }
  return undefined
}
