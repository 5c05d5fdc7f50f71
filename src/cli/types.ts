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
        const { config } = await readSettings()
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
  // The label must not end the comment.
  const label = field.label === undefined ? '' : headingOf(field).replaceAll('*/', '* /')
  const comment = label === '' ? '' : `    /** ${label} */\n`
  const mark = field.required ? '' : '?'
  return `${comment}    readonly ${keyOf(field.name)}${mark}: ${typeOf(field)}\n`
}

function typeOf(field: Field): string {
  switch (field.type) {
    case 'choice':
      return unionOf(field)
    case 'choices':
      return `readonly (${unionOf(field)})[]`
    case 'number':
      return 'number'
    case 'checkbox':
      return field.required ? 'true' : 'boolean'
    default:
      return 'string'
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
