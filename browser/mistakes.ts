import type { Problem } from '../src/signup/wire.ts'
import { isOption, optionGroups, optionsOf, simpleOptions } from './options.ts'
import { isOneSlip } from './suggestion.ts'

const tabCharactersMax = 100

/** Tells the page's author what in the attributes of a script tag or an element is a slip. */
export function tellMistakes(element: Element): void {
  // The form of a script tag has only those of its attributes that are options.
  const tag = element.hasAttribute('data-script') ? element.previousElementSibling : element
  if (!tag) return
  for (const { name } of tag.attributes) {
    const [, word = '', rest = ''] = /^data-([^-]+)(-.+)?$/.exec(name) ?? []
    const isNear = (option: string) => isOneSlip(word, option)
    const meant = [
      ...simpleOptions.split('|').filter((option) => !rest && isNear(option)),
      ...optionGroups
        .split('|')
        .filter(isNear)
        .map((group) => group + (rest || '-…')),
    ].map((option) => `data-${option}`)
    if (!isOption(name) && meant.length > 0) {
      tellAuthor(`${name} is no option. Did you mean ${meant.join(' or ')}?`)
    }
  }
  const { tab = '' } = optionsOf(tag, {})
  if (tab.trim().length > tabCharactersMax) {
    tellAuthor(`the name of a tab has at most ${tabCharactersMax} characters, and ${tab} has more.`)
  }
}

/** What the service refuses and no visitor can mend, in its own words. */
export function tellRefusal({ detail, errors = [] }: Problem): void {
  const wrong = errors.map(({ field, message }) => `${field}: ${message}`)
  tellAuthor(wrong.join(' ') || detail)
}

function tellAuthor(text: string): void {
  console.error(`Rollcall: ${text}`)
}
