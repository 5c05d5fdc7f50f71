import { html } from 'hono/html'
import { entryOf, type Kept, newestAbout, nothingKept, unsearched } from '../operations/person.ts'
import { counted } from '../operations/words.ts'
import { digits } from '../platform/digits.ts'
import type { Html } from '../pages/document.ts'
import { rollcall } from '../platform/command-words.ts'
import { visible } from '../platform/visible.ts'
import { facts, form, hidden, isTime, time } from './frame.ts'
import type { Shown, Visit } from './visit.ts'

/** A stranger may have signed a person up any number of times, with long texts. */
const newestMax = 100
const charactersMax = 500

/** A form that finds a person, or several. No address is in a URL. */
export function findForm(visit: Visit): Html {
  return form(
    visit,
    '/person',
    html`<label
        >Address, its beginning, or the end of an id
        <input
          name="email"
          inputmode="email"
          required
          maxlength="254"
          autocomplete="off"
          autocapitalize="none"
          spellcheck="false"
      /></label>
      <button>Find</button>`,
  )
}

/** What is kept about the person with this address, the newest first. */
export async function personView(visit: Visit, address: string, stop: AbortSignal): Promise<Shown> {
  const journals = new Map(visit.sites.map(({ name, journal }) => [name, journal]))
  const endpoints = new Map(visit.sites.map((site) => [site.name, site.endpoints]))
  const { kept, left } = await newestAbout(address, newestMax, { journals, endpoints, stop })
  const more = `${digits(left)} more are kept, older ones. ${rollcall('person')} prints all, as a whole.`
  const isErasable = kept.some(({ kind }) => ['signup', 'pending', 'mail'].includes(kind))
  const body = html`
    <p class="whom" dir="auto">${address}</p>
    <p>${kept.length === 0 && nothingKept} ${left > 0 && more} ${unsearched}</p>
    ${kept.map((one) => section(one, visit.site.confirmationDays))}
    ${
      kept.length > 0 &&
      html`<section aria-labelledby="acts">
        <h2 id="acts">What you can do</h2>
        ${isErasable && personAction(visit, address, '/forget', html`<button class="danger">Erase this person…</button>`)}
        ${
          kept.some(({ kind }) => kind === 'noMail') &&
          personAction(visit, address, '/allow-mail', html`<button>Let mails go again</button>`)
        }
      </section>`
    }
    ${findForm(visit)}
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

function section(kept: Kept, confirmationDays: number): Html {
  const { heading, facts: all } = entryOf(kept, confirmationDays)
  const named = all.map(([name, text]) => [inWords(name), text])
  return html`<section>
    <h2>${heading}</h2>
    ${facts(named, (text) => (isTime(text) ? time(text) : cut(text)))}
  </section>`
}

function cut(text: string): string {
  if (text.length <= charactersMax) return visible(text)
  return `${visible(text.slice(0, charactersMax))}… (${counted(text.length, 'character')})`
}
