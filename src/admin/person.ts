import { html } from 'hono/html'
import { type Entry, entriesOf, nothingKept, readPerson, unsearched } from '../operations/person.ts'
import { counted } from '../operations/words.ts'
import type { Html } from '../pages/document.ts'
import { visible } from '../platform/visible.ts'
import { emailProblem, storedEmail } from '../signup/email.ts'
import { facts, form, hidden, isTime, time, told } from './frame.ts'
import { posted, type Shown, type Visit } from './visit.ts'

/** A form that finds a person. The address is in no URL. */
export function personForm(visit: Visit): Html {
  return form(
    visit,
    '/person',
    html`<label
        >Whole address <input name="email" type="email" required autocomplete="off"
      /></label>
      <button>Find the person</button>`,
  )
}

/** Everything that is kept about the person with this address. @param done what was done just now */
export async function personView(visit: Visit, stop: AbortSignal, done?: string): Promise<Shown> {
  const address = storedEmail(posted(visit, 'email'))
  if (emailProblem(address) !== undefined) {
    return { title: 'Person', body: html`${told('Give one email address.')} ${personForm(visit)}` }
  }
  let all = 0
  const journals = new Map(visit.sites.map(({ name, journal }) => [name, journal]))
  const endpoints = new Map(visit.sites.map((site) => [site.name, site.endpoints]))
  const searched = (upto: number) => (all = upto)
  const person = await readPerson(address, { journals, endpoints, stop, searched })
  const entries = entriesOf(person)
  const wordings = person.wordings.map((text, at) => ({
    heading: `Wording ${at}`,
    facts: [['text', text] as const],
  }))
  const body = html`
    ${told(done)}
    <p dir="auto">${address}</p>
    <p>Searched: ${counted(all, 'signup')}. ${entries.length === 0 && nothingKept} ${unsearched}</p>
    ${[...entries, ...wordings].map((entry) => entryOf(entry))}
    <section aria-labelledby="acts">
      <h2 id="acts">What you can do</h2>
      ${personAction(visit, address, '/forget', html`<button class="danger">Erase this person…</button>`)}
      ${
        person.sites.some(({ block }) => block) &&
        personAction(visit, address, '/allow-mail', html`<button>Let mails go again</button>`)
      }
    </section>
    ${personForm(visit)}
  `
  return { title: 'Person', body }
}

/** A form that does something for this address. */
export function personAction(visit: Visit, address: string, path: string, button: Html): Html {
  return form(visit, path, html`${hidden({ email: address })}${button}`)
}

/** The words in a name of the JSON, such as `sheetTab`. */
function inWords(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
}

function entryOf({ heading, facts: told }: Entry): Html {
  const named = told.map(([name, text]) => [inWords(name), text])
  return html`<section>
    <h2>${heading}</h2>
    ${facts(named, (text) => (isTime(text) ? time(text) : visible(text)))}
  </section>`
}
