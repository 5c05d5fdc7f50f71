import type { ConfigAnswer, Problem, ProblemField } from '../src/signup/wire.ts'
import { didYouMean, nearest } from './nearest.ts'
import { nameAt, type Place, tell } from './tell.ts'

const tabsShown = 5

const optionOf: Readonly<Record<string, string>> = {
  site: 'site',
  sheetTab: 'tab',
  source: 'source',
  tags: 'tags',
  metadata: 'field-…',
}

/** A refusal by the service that no visitor can mend. */
export interface Refused {
  readonly status: number
  /** Undefined when the answer is not one of Rollcall. */
  readonly problem: Problem | undefined
  /** The address for signups, with its site. */
  readonly endpoint: string
  readonly place: Place
  /** The tab of the signup; empty when it names none. */
  readonly tab: string
}

/** Tells the page's author, in one line, what the service refuses and what to add or correct. */
export async function tellRefusal(refused: Refused): Promise<void> {
  const { status, problem, endpoint, place, tab } = refused
  // The address of something else than a Rollcall, or of another path of it.
  if (!problem?.detail || status === 404 || status === 405) {
    const isOwn = place instanceof HTMLFormElement
    const where = isOwn
      ? "the form's action"
      : `${nameAt(place, 'server')}, or the script's address`
    tell(`${endpoint} answered ${status}, so no signup can be sent there: correct ${where}.`)
    return
  }
  const { detail, errors = [] } = problem
  const lines = errors.map(async (error) => {
    if (error.field === 'site') return siteLine(error, endpoint, place)
    if (error.field === 'sheetTab') return tabLine(error, endpoint, place, tab)
    return `${nameOf(error.field, place)}: ${error.message}`
  })
  tell((await Promise.all(lines)).join(' ') || detail)
}

/** Asks the service about the site that the options name, and tells when there is no such site. */
export async function checkSite(endpoint: string, site: string, place: Place): Promise<void> {
  const address = `${endpoint}?site=${encodeURIComponent(site)}`
  const { status, problem } = await askConfig(address)
  if (status >= 400 && status < 500)
    await tellRefusal({ status, problem, endpoint: address, place, tab: '' })
}

function siteLine({ message }: ProblemField, endpoint: string, place: Place): string {
  const site = new URL(endpoint).searchParams.get('site')
  const isOwn = place instanceof HTMLFormElement
  const option = isOwn ? `?site= in the form's action` : nameAt(place, 'site')
  if (site) return `${message} Correct ${option}.`
  return `the site is missing: add ${option}${isOwn ? '' : ', with the name of one of the sites of this Rollcall'}.`
}

async function tabLine(
  { message }: ProblemField,
  endpoint: string,
  place: Place,
  tab: string,
): Promise<string> {
  const option = nameOf('sheetTab', place)
  const { config } = await askConfig(endpoint)
  const tabs = config?.sheetTabs
  if (!tab || !tabs) return `${option}: ${message}`
  const shown = tabs.slice(0, tabsShown).join(', ')
  const rest = tabs.length > tabsShown ? ` and ${tabs.length - tabsShown} more` : ''
  const meant = nearest(tab, tabs)
  return `${option} "${tab}" takes no signups.${didYouMean(meant) || ` The tabs that do are ${shown}${rest}.`}`
}

/** What the page's author calls a field: the service's name in a form of their own, else the option. */
function nameOf(field: string, place: Place): string {
  if (place instanceof HTMLFormElement) return field
  const [, inMetadata] = /^metadata\[(.+)\]$/.exec(field) ?? []
  const option = inMetadata ? `field-${inMetadata}` : optionOf[field.replace(/\[.*/, '')]
  return option ? nameAt(place, option) : field
}

async function askConfig(endpoint: string) {
  const { search } = new URL(endpoint)
  const answer = await fetch(new URL(`config${search}`, endpoint))
  const body: unknown = await answer.json().catch(() => undefined)
  const { status, ok } = answer
  return ok
    ? { status, config: body as ConfigAnswer, problem: undefined }
    : { status, config: undefined, problem: body as Problem | undefined }
}
