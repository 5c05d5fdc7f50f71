import { limits } from './limits.ts'
import { tabKey } from './signup.ts'
import { hasUnprintable } from './text.ts'

/** What is wrong with a tab's trimmed name, and what to do; undefined when it is valid. */
export function tabProblem(name: string): string | undefined {
  if (name === '') return 'The tab needs a name, or leave the field out.'
  if (name.length > limits.tabCharactersMax) {
    return `The tab's name is too long: at most ${limits.tabCharactersMax} characters.`
  }
  if (hasUnprintable(name)) {
    return "The tab's name has a control character or half of a surrogate pair in it: remove it."
  }
  return undefined
}

/** Maps each `tabKey` to the tab's spelling. The first of two spellings wins. */
export function tabsByKey(names: Iterable<string>): ReadonlyMap<string, string> {
  const tabs = new Map<string, string>()
  for (const name of names) if (!tabs.has(tabKey(name))) tabs.set(tabKey(name), name)
  return tabs
}
