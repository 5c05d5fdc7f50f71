import { visible } from '../../platform/visible.ts'
import type { OwnColumn } from '../../signup/row.ts'
import type { Signup } from '../../signup/signup.ts'
import type { Chat } from './chat.ts'

/** How many people a message names, how many characters it has about each, and how many of each id it ends with. */
const [namedMax, personMax, idEnd] = [20, 300, 8]

/** How many characters of a heading a message has, so that a sentence at a checkbox leaves room for what was said. */
const headingMax = 40

/** What messages have of a site. */
export interface ToldSite {
  /** May be empty. */
  readonly title: string
  readonly own: readonly OwnColumn[]
}

/**
 * The lines of a message about these people, escaped: as many as fit are named, and the rest is counted. It is a test
 * when there is nobody.
 */
export function composeLines(chat: Chat, site: ToldSite, people: readonly Signup[]) {
  for (let named = Math.min(namedMax, people.length); ; named--) {
    const lines = linesAbout(people, named, site).map((line) => chat.escape(line))
    if (named <= 0 || lines.join('\n').length <= chat.charactersMax) return lines
  }
}

function linesAbout(people: readonly Signup[], named: number, { title, own }: ToldSite) {
  const shown = people.slice(0, named)
  const { length } = people
  const news = length === 1 ? '1 new signup' : `${length} new signups`
  const head = length === 0 ? 'a test of Rollcall, which tells this channel who signs up' : news
  return [
    title === '' ? head : `${visible(title)}: ${head}`,
    ...shown.map((one) => personLine(one, own)),
    length > named ? `and ${length - named} more` : '',
    shown.map(({ id }) => id.slice(-idEnd)).join(' '),
  ].filter((line) => line !== '')
}

/** The address stays as it is, so that it can be copied. */
function personLine({ email, name, sheetTab, fields }: Signup, own: ToldSite['own']): string {
  const said = Object.entries(fields).map(([field, it]) => {
    const column = own.find(({ name }) => name === field)
    const text = typeof it === 'boolean' ? ['no', 'yes'][Number(it)] : [it].flat().join(', ')
    return `${cut(column?.heading ?? field, headingMax)}: ${text}`
  })
  const rest = [name, sheetTab, ...said].filter((text) => text !== '').join(', ')
  const start = `${visible(email)}, `
  return start + cut(inert(visible(rest.replace(/\s+/gu, ' '))), personMax - start.length)
}

function cut(text: string, most: number): string {
  if (text.length <= most) return text
  // Half of a surrogate pair is no character.
  return `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`
}

/** With a zero-width space behind all with which mentions, links and emoji codes begin or go on. */
function inert(text: string): string {
  return text.replace(/[.:/@#<](?=\S)/g, '$&\u200b')
}
