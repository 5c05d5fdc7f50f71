import { create } from './dom.ts'
import { didYouMean, nearest } from './nearest.ts'
import { languages } from './texts.ts'

const tabCharactersMax = 100

/** What is wrong with the value of an option; undefined when it may be right. */
export function valueProblem(option: string, value: string): string | undefined {
  if (value === '' || value === option) return undefined
  switch (option) {
    case 'tab':
      if (value.trim().length <= tabCharactersMax) return undefined
      return `is too long: the name of a tab may have at most ${tabCharactersMax} characters.`
    case 'theme':
      return notOneOf(['light', 'dark', 'auto'], value)
    case 'language':
      return notOneOf(languages.split('|'), value.slice(0, 2).toLowerCase())
    case 'name':
      return notOneOf(['required', 'true', 'false'], value)
    case 'utm':
      return notOneOf(['true', 'false'], value)
    case 'server':
      return /^(https?:|\/|\.)/.test(value) ? undefined : noAddress
    case 'redirect':
      return isLink(value) ? undefined : noAddress
    default:
      return undefined
  }
}

const noAddress = 'is not an address of a page: that begins with https:// or /.'

function notOneOf(right: readonly string[], value: string): string | undefined {
  if (right.includes(value)) return undefined
  return `is not one of ${right.join(', ')}.${didYouMean(nearest(value, right))}`
}

/** Whether a link leads where it seems to. Without `https://`, `www.example.com` is a path on the page's own server. */
function isLink(link: string): boolean {
  const { protocol } = create('a', { href: link })
  return /^https?:$/.test(protocol) && !/^www\.|^[\w-]+\.[\w.-]+\//i.test(link)
}
