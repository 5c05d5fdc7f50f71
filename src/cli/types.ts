import type { Command } from '@commander-js/extra-typings'
import type { SiteConfig } from '../config/sites/site.ts'
import { type Field, headingOf, optionsOf } from '../signup/field.ts'
import { rollcall } from './command-words.ts'
import { exit, type Run } from './session.ts'
import { readSettings } from './settings.ts'

const details = `
Save it beside your code, and give the client the fields of its site:
  ${rollcall}types > sites.ts
  createClient<Sites['launch']>({ baseUrl, site: 'launch' })`

export function addTypes(program: Command, run: Run): void {
  program
    .command('types')
    .description('print TypeScript types of the fields of each site, for the typed client')
    .addHelpText('after', details)
    .action(() =>
      run(async ({ out }) => {
        const { config } = readSettings()
        await out.data.write(typesOf(config.sites))
        return exit.done
      }),
    )
}

/** A module with one interface: the fields of each site, by its name. */
export function typesOf(sites: readonly Pick<SiteConfig, 'name' | 'fields'>[]): string {
  const members = sites.map(({ name, fields }) =>
    fields.length === 0
      ? `  readonly ${keyOf(name)}: unknown\n`
      : `  readonly ${keyOf(name)}: {\n${fields.map(memberOf).join('')}  }\n`,
  )
  return (
    '// Printed by `rollcall types`: print it again when the fields of a site change.\n\n' +
    '/** The declared fields of each site; `unknown` when it has none. */\n' +
    `export interface Sites {\n${members.join('')}}\n`
  )
}

function memberOf(field: Field): string {
  const label = field.label === undefined ? undefined : headingOf(field)
  const [type, note] = typeOf(field)
  const words = [label, note].filter((it) => it !== undefined).join(': ')
  // The label must not end the comment.
  const comment = words === '' ? '' : `    /** ${words.replaceAll('*/', '* /')} */\n`
  const mark = field.required ? '' : '?'
  return `${comment}    readonly ${keyOf(field.name)}${mark}: ${type}\n`
}

/** The type of a field's value, and what the type alone does not say. */
function typeOf(field: Field): readonly [type: string, note?: string] {
  switch (field.type) {
    case 'choice':
      return [unionOf(field)]
    case 'choices':
      return [`readonly (${unionOf(field)})[]`]
    case 'number': {
      const { min, max } = field
      const bounds = [min !== undefined && `from ${min}`, max !== undefined && `up to ${max}`]
      const note = bounds.filter((it) => it !== false).join(' ')
      return note === '' ? ['number'] : ['number', note]
    }
    case 'checkbox':
      return [field.required ? 'true' : 'boolean']
    case 'text':
    case 'textarea':
      return ['string', `at most ${field.maxLength} characters`]
    case 'url':
      return ['string', 'a URL']
    case 'date':
      return ['string', 'a date, such as 2026-11-20']
    case 'phone':
      return ['string', 'a phone number']
  }
}

function unionOf(field: Extract<Field, { type: 'choice' | 'choices' }>): string {
  return optionsOf(field)
    .map((option) => JSON.stringify(option))
    .join(' | ')
}

function keyOf(name: string): string {
  return /^\w+$/.test(name) ? name : JSON.stringify(name)
}
