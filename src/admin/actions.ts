import { html } from 'hono/html'
import { type Answer, seeOther } from '../http/answer.ts'
import type { Journal } from '../journal/contracts/journal.ts'
import {
  forget,
  type ForgetOptions,
  forgottenWords,
  type RowRemoval,
} from '../operations/forget.ts'
import { type JournalHome, openEverySite } from '../operations/journal-home.ts'
import { allowMails } from '../operations/person.ts'
import {
  type Choice,
  decide,
  decidedWords,
  type Decision,
  domainOf,
  heldSignups,
} from '../operations/quarantine.ts'
import { counted } from '../operations/words.ts'
import type { Doing, WorkRunner } from '../operations/work.ts'
import { minute } from '../platform/clock.ts'
import { storedEmail } from '../signup/email.ts'
import { signupIdOf } from '../signup/id.ts'
import { form, hidden, linkTo } from './frame.ts'
import { personAction, personView } from './person.ts'
import { signupsView } from './signups.ts'
import { type AdminRoute, isSure, posted, type Shown, type Visit } from './visit.ts'
import { workView } from './work.ts'

export interface ActionOptions extends Pick<ForgetOptions, 'clock'> {
  readonly runner: WorkRunner
  readonly home: Pick<JournalHome, 'openReader' | 'openBeside' | 'filesWith' | 'leftBehind'>
  readonly isInDatabase: boolean
  /** Tells how the service removes rows of these sites. */
  readonly watchRemoval: (journals: ReadonlyMap<string, Journal>) => RowRemoval
}

const waitMs = minute
/** More than so many are told as more. */
const countedMax = 10_000

/** The signups, a person, what can be done with them, and how it fares. */
export function peopleRoutes(options: ActionOptions): readonly AdminRoute[] {
  const never = new AbortController().signal
  const deciding = (decision: Decision) => (visit: Visit) => decideOn(visit, decision, options)
  return [
    { path: '/signups', GET: signupsView },
    {
      path: '/person',
      GET: async (visit) => seeOther(linkTo(visit, '/signups')),
      POST: (visit) => personView(visit, never),
    },
    { path: '/release', POST: deciding('release'), asks: true },
    { path: '/erase', POST: deciding('erase'), asks: true },
    { path: '/forget', POST: (visit) => forgetOne(visit, options), asks: true },
    {
      path: '/allow-mail',
      POST: async (visit) => {
        const { name, journal } = visit.site
        const email = storedEmail(posted(visit, 'email'))
        const { words } = await allowMails(email, new Map([[name, journal]]))
        return personView(visit, never, words)
      },
    },
    { path: '/work', GET: workView },
  ]
}

async function begin(
  visit: Visit,
  runner: WorkRunner,
  kind: string,
  doing: Doing,
): Promise<Shown | Answer> {
  const id = await runner.start(kind, doing)
  if (id !== undefined) return seeOther(linkTo(visit, '/work', { id }))
  return nothing(
    'Three pieces of work run already. Wait until one of them has ended, and try again.',
  )
}

function nothing(why: string): Shown {
  return { title: 'Nothing was done', body: html`<p role="alert">${why}</p>` }
}

async function decideOn(
  visit: Visit,
  decision: Decision,
  options: ActionOptions,
): Promise<Shown | Answer> {
  const { site } = visit
  const isAll = posted(visit, 'all') === 'yes'
  const given = posted(visit, 'domain').trim()
  const domain = domainOf(given)
  if (isAll && given !== '' && domain === undefined)
    return nothing('Give a domain, such as example.com.')
  const ids = visit.fields.flatMap(([name, text]) =>
    name === 'id' ? (signupIdOf(text) ?? []) : [],
  )
  if (!isAll && ids.length === 0) return nothing('No signup was chosen. Go back, and tick some.')
  const choice: Choice = isAll ? { domain } : { ids }
  if (!isSure(visit)) return askFirst(visit, decision, choice)
  const { runner, clock, watchRemoval } = options
  const journals = new Map([[site.name, site.journal]])
  return begin(visit, runner, decision, async (task) => {
    const report = await decide(decision, choice, {
      ...{ ...task, journals, clock, waitMs, isTrial: false },
      startRemoval: async () => watchRemoval(journals),
      reachable: new Set(journals.keys()),
    })
    return decidedWords(decision, report, { confirms: site.confirms })
  })
}

const questions = {
  release: {
    title: 'Release from quarantine?',
    button: (many: string) => html`<button>Release ${many}</button>`,
    does: (held: string) => `This moves ${held} to the tabs that they were for.`,
  },
  erase: {
    title: 'Erase from quarantine?',
    button: (many: string) => html`<button class="danger">Erase ${many}</button>`,
    does: (held: string) =>
      `This erases ${held} from the journal, and their rows from the quarantine tab.`,
  },
}

async function askFirst(visit: Visit, decision: Decision, choice: Choice): Promise<Shown> {
  const { reader } = visit.site.journal
  let found = choice.ids?.length ?? 0
  if (!choice.ids) {
    for await (const page of heldSignups(reader, choice, new AbortController().signal)) {
      if ((found += page.length) > countedMax) break
    }
  }
  const many =
    found > countedMax ? `more than ${counted(countedMax, 'signup')}` : counted(found, 'signup')
  const chosen = choice.ids
    ? choice.ids.flatMap((id) => hidden({ id }))
    : hidden({ all: 'yes', domain: choice.domain ?? '' })
  const { title, button, does } = questions[decision]
  const held = `${many} in quarantine${choice.domain === undefined ? '' : ` of ${choice.domain}`}`
  const body = html`<p>${does(held)} It cannot be taken back.</p>
    ${form(visit, `/${decision}`, html`${chosen} ${sure}${button(many)}`)}
    <p><a href="${linkTo(visit, '/signups', { state: 'quarantine' })}">Leave them there</a></p>`
  return { title, body }
}

const sure = hidden({ sure: 'yes' })

async function forgetOne(visit: Visit, options: ActionOptions): Promise<Shown | Answer> {
  const address = storedEmail(posted(visit, 'email'))
  if (address === '') return nothing('Give one email address.')
  if (!isSure(visit)) {
    const button = html`${sure}<button class="danger">Erase this person</button>`
    const body = html`<p dir="auto">${address}</p>
      <p>
        This erases all signups of this address at all sites from the journal, those that wait for
        their confirmation too, and removes their rows from the spreadsheets. It cannot be taken
        back. Signups that come later are new ones.
      </p>
      ${personAction(visit, address, '/forget', button)}
      ${personAction(visit, address, '/person', html`<button>Keep this person</button>`)}`
    return { title: 'Erase this person?', body }
  }
  const { runner, home, clock, isInDatabase, watchRemoval } = options
  return begin(visit, runner, 'forget', async ({ stop, progress }) => {
    await using opened = await openEverySite(home)
    const { journals } = opened
    const report = await forget(address, {
      ...{ journals, home, clock, stop, waitMs, searched: progress },
      startRemoval: async () => watchRemoval(journals),
      reachable: new Set(visit.sites.map(({ name }) => name)),
    })
    return forgottenWords(report, isInDatabase)
  })
}
