import { html } from 'hono/html'
import { type Answer, seeOther } from '../http/answer.ts'
import type { Journal } from '../journal/contracts/journal.ts'
import {
  forget,
  type ForgetOptions,
  forgottenWords,
  type RowRemoval,
} from '../operations/forget.ts'
import { type JournalHome, openPresent } from '../operations/journal-home.ts'
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
import type { WorkRunner } from '../operations/work.ts'
import { minute, second } from '../platform/clock.ts'
import { emailProblem, storedEmail } from '../signup/email.ts'
import { signupIdOf } from '../signup/id.ts'
import { form, hidden, linkTo } from './frame.ts'
import { personAction } from './person.ts'
import { findView, signupsView } from './signups.ts'
import { type AdminRoute, isSure, posted, type Shown, type Visit } from './visit.ts'
import { begin, nothing, workView } from './work.ts'

export interface ActionOptions extends Pick<ForgetOptions, 'clock'> {
  readonly runner: WorkRunner
  readonly home: Pick<JournalHome, 'openReader' | 'openBeside' | 'leftBehind'>
  readonly isInDatabase: boolean
  /** Tells how the service removes rows of these sites. */
  readonly watchRemoval: (journals: ReadonlyMap<string, Journal>) => RowRemoval
}

/** How long a few rows are waited for, and how long many: what is left then, the service removes later. */
const [fewMs, manyMs] = [2 * second, minute]
/** Where the list of held signups is. */
const held = '/signups?state=held'
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
      POST: (visit) => findView(visit, never),
    },
    { path: '/release', POST: deciding('release'), asks: true },
    { path: '/erase', POST: deciding('erase'), asks: true },
    { path: '/forget', POST: (visit) => forgetOne(visit, options), asks: true },
    { path: '/allow-mail', POST: (visit) => allowMail(visit, options) },
    { path: '/work', GET: workView },
  ]
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
    return nothing(visit, 'Give a domain, such as example.com.', held)
  const ids = visit.fields.flatMap(([name, text]) =>
    name === 'id' ? (signupIdOf(text) ?? []) : [],
  )
  if (!isAll && ids.length === 0) return nothing(visit, 'No signup was chosen. Tick some.', held)
  const choice: Choice = isAll ? { domain } : { ids }
  if (!isSure(visit)) return askFirst(visit, decision, choice)
  const { runner, clock } = options
  const journals = new Map([[site.name, site.journal]])
  const waitMs = choice.ids ? fewMs : manyMs
  return begin(visit, runner, { kind: decision, back: held }, async (task) => {
    const report = await decide(decision, choice, {
      ...{ ...task, journals, clock, waitMs, isTrial: false },
    })
    return decidedWords(decision, report, { confirms: site.confirms })
  })
}

const questions = {
  release: {
    title: 'Release what is held?',
    button: (many: string) => html`<button>Release ${many}</button>`,
    does: (which: string, confirms: boolean) =>
      confirms
        ? `This sends ${which} the mails by which people confirm.`
        : `This lets ${which} into the tabs that they were for.`,
  },
  erase: {
    title: 'Erase what is held?',
    button: (many: string) => html`<button class="danger">Erase ${many}</button>`,
    does: (which: string) => `This erases ${which} for good.`,
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
    found > countedMax
      ? `more than ${counted(countedMax, 'held signup')}`
      : counted(found, 'held signup')
  const chosen = choice.ids
    ? choice.ids.flatMap((id) => hidden({ id }))
    : hidden({ all: 'yes', domain: choice.domain ?? '' })
  const { title, button, does } = questions[decision]
  const which = `${many}${choice.domain === undefined ? '' : ` of ${choice.domain}`}`
  const body = html`<section>
    <p>${does(which, visit.site.confirms)} It cannot be taken back.</p>
    ${form(visit, `/${decision}`, html`${chosen} ${sure}${button(many)}`)}
    <p><a href="${linkTo(visit, held)}">Leave them there</a></p>
  </section>`
  return { title, body }
}

const sure = hidden({ sure: 'yes' })

async function forgetOne(visit: Visit, options: ActionOptions): Promise<Shown | Answer> {
  const address = storedEmail(posted(visit, 'email'))
  if (address === '') return nothing(visit, 'Give one email address.', '/signups')
  if (!isSure(visit)) {
    const button = html`${sure}<button class="danger">Erase this person</button>`
    const body = html`<section>
      <p class="whom" dir="auto">${address}</p>
      <p>
        This erases all signups of this address at all sites from the journal, those that wait for
        their confirmation too, and removes their rows from the spreadsheets. It cannot be taken
        back. Signups that come later are new ones.
      </p>
      <div class="actions">
        ${personAction(visit, address, '/forget', button)}
        ${personAction(visit, address, '/person', html`<button>Keep this person</button>`)}
      </div>
    </section>`
    return { title: 'Erase this person?', body }
  }
  const { runner, home, clock, isInDatabase, watchRemoval } = options
  const task = { kind: 'forget', back: '/signups' }
  return begin(visit, runner, task, async ({ stop, progress }) => {
    await using opened = await openPresent(home)
    const { sites: journals } = opened
    const report = await forget(address, {
      ...{ journals, clock, stop, waitMs: fewMs, searched: progress },
      home: { leftBehind: () => home.leftBehind() },
      startRemoval: async () => watchRemoval(journals),
      reachable: new Set(visit.sites.map(({ name }) => name)),
    })
    return forgottenWords(report, isInDatabase)
  })
}

async function allowMail(visit: Visit, { runner }: ActionOptions): Promise<Shown | Answer> {
  const { name, journal } = visit.site
  const email = storedEmail(posted(visit, 'email'))
  if (emailProblem(email) !== undefined)
    return nothing(visit, 'Give one email address.', '/signups')
  return begin(visit, runner, { kind: 'allow-mail', back: '/signups' }, async () => {
    const { words } = await allowMails(email, new Map([[name, journal]]))
    return [words]
  })
}
