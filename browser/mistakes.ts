import type { Problem } from '../src/signup/wire.ts'
import { isOption, optionGroups, optionsOf, simpleOptions } from './options.ts'
import { isOneSlip } from './suggestion.ts'

const tabCharactersMax = 100

/** Warns the page's author of mistakes in the attributes of a script tag or an element. */
export function tellMistakes(element: Element): void {
  // The form of a script tag has only valid options, so check the script tag itself.
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
    ]
    if (!isOption(name) && meant.length > 0) {
      tellAuthor(`${name} is not an option. Did you mean data-${meant.join(' or data-')}?`)
    }
  }
  const { tab = '' } = optionsOf(tag, {})
  if (tab.trim().length > tabCharactersMax) {
    tellAuthor(
      `the name of a tab may have at most ${tabCharactersMax} characters, and ${tab} has more.`,
    )
  }
}

/** Warns the page's author of what the service refuses and no visitor can correct. */
export function tellRefusal({ detail, errors = [] }: Problem): void {
  const wrong = errors.map(({ field, message }) => `${field}: ${message}`)
  tellAuthor(wrong.join(' ') || detail)
}

function tellAuthor(text: string): void {
  console.error(`Rollcall: ${text}`)
}
