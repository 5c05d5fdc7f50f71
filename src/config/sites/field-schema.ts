import { isRecord } from '../../signup/json.ts'
import { columns, headingKey } from '../../signup/row.ts'
import { formSchema } from '../../signup/schema.ts'
import type { Field } from '../../signup/field.ts'
import * as kind from '../kind.ts'
import { line, siteText } from '../texts.ts'

const { checked, described, listOf, object, Wrong } = kind

/**
 * Names that mean something else in a signup, in an exported line, or to JavaScript. A field may be called
 * `tab`, as some were before signups could name their tab by it: then only `sheetTab` does.
 */
const takenNames: ReadonlySet<string> = new Set(
  [
    ...Object.keys(formSchema.shape).filter((it) => it !== 'tab'),
    ...['site', 'timestamp', 'id', 'receivedAt', 'confirmed', 'confirmedAt', 'idempotencyKey'],
    ...['prototype', ...Object.getOwnPropertyNames(Object.prototype)],
  ].map((name) => name.toLowerCase()),
)

const namePattern = /^[A-Za-z][A-Za-z0-9_-]{0,39}$/

const name = kind.text(
  'the name of a field: a letter, and then letters, digits, _ and -, up to 40 characters, such as company',
  (it) => {
    if (!namePattern.test(it)) return undefined
    const isTaken = takenNames.has(it.toLowerCase())
    return isTaken ? new Wrong('is a name that Rollcall or JavaScript uses.') : it
  },
  'Choose such a name for programs. Visitors read the label.',
  { pattern: namePattern.source, description: 'Signups carry the value under this name.' },
)

/** A text for visitors, which may be in several languages. */
const words = (charactersMax: number, example: string, description: string) =>
  described(siteText(kind.exemplified(line(charactersMax), example)), description)

const common = {
  name,
  label: words(
    100,
    'Company',
    'What visitors read beside the field, and the heading of its column; the name when it is left out.',
  ),
  required: described(kind.boolean, 'Whether a signup must have a value.', { default: false }),
  help: words(300, 'As on the invoice.', 'A line below the control.'),
}

const typed = {
  ...common,
  placeholder: words(100, 'Acme Inc.', 'Stands in the control while it is empty.'),
}

const anyText = {
  ...typed,
  maxLength: described(kind.wholeNumber(1, 2_000), 'The most characters of the text.', {
    default: 500,
  }),
}

const options = checked(
  described(
    listOf(words(200, 'Small', 'A value as it is shown. The one given first is stored.'), [1, 200]),
    'The values that a visitor chooses from.',
    { uniqueItems: true },
  ),
  (given, note) => {
    const all = entriesOf(given).map(firstOf)
    const again = all.findIndex((it, at) => all.indexOf(it) < at)
    if (again !== -1) note({ problem: 'is in the list twice.', expected: 'another option' }, again)
  },
)

const choices = checked(options, (given, note) => {
  for (const [at, it] of entriesOf(given).map(firstOf).entries()) {
    if (typeof it !== 'string' || !it.includes(',')) continue
    const expected = 'an option without a comma, as commas stand between options in the cell'
    note({ problem: 'has a comma.', expected }, at)
  }
})

const bounds = {
  min: described(kind.number, 'The least number.'),
  max: described(kind.number, 'The greatest number.'),
}

type Shape = Readonly<Record<string, kind.Kind<unknown>>>

/** What each type of field may have. */
const types: Readonly<Record<Field['type'], Shape>> = {
  text: anyText,
  textarea: anyText,
  choice: { ...common, options },
  choices: { ...common, options: choices },
  number: { ...typed, ...bounds },
  checkbox: common,
  url: typed,
  date: common,
  phone: typed,
}

const typeNames = Object.keys(types) as readonly Field['type'][]
const typeKind = kind.oneOf(typeNames)

/** Each type as an object. A field that names none is a text. */
const ofTypes = typeNames.map((name) => {
  const type = { ...typeKind, schema: { type: 'string', const: name } }
  const needed = ['name', 'type', 'options'].filter((it) => it !== 'type' || name !== 'text')
  const required = needed.filter((it) => it === 'type' || Object.hasOwn(types[name], it))
  const shape: Shape = { ...types[name], type }
  return object(shape, required, (key) => {
    const others = typeNames.filter((it) => Object.hasOwn(types[it], key))
    if (others.length === 0) return 'is no key of this file.'
    return `is for "type": ${others.map((it) => `"${it}"`).join(' or ')}.`
  })
})

const field: kind.Kind<Field> = {
  form: 'a field: docs/forms.md describes it',
  schema: { oneOf: ofTypes.map(({ schema }) => schema) },
  parse(given, note) {
    const named = isRecord(given) ? (given['type'] ?? 'text') : 'text'
    const type = typeKind.parse(named, (refusal) => note(refusal, 'type'))
    const values = type && ofTypes[typeNames.indexOf(type)]?.parse(given, note)
    if (values?.['name'] === undefined) return undefined
    const { min = -Infinity, max = Infinity } = values as { readonly min?: number; max?: number }
    const expected = `a number that is not less than min, which is ${min}`
    if (max < min) note({ problem: 'is less than min.', expected }, 'max')
    return { type, ...values } as unknown as Field
  },
}

/** More columns than people look at, and few enough for a form. */
const fieldsMax = 20

/** The fields of a site. Those with problems count when names are compared. */
export const fieldsKind = checked(
  described(
    listOf(field, [0, fieldsMax]),
    'Columns of the site after the seven, in this order. Signups have their values; forms show them.',
  ),
  (given, note) => {
    const names = new Set<unknown>()
    const headings = new Set<unknown>(columns.map(headingKey))
    for (const [at, it] of entriesOf(given).entries()) {
      if (!isRecord(it)) continue
      take(it['name'], names, at, 'name')
      const { label = it['name'] } = it
      take(firstOf(label), headings, at, it['label'] === undefined ? 'name' : 'label')
    }

    /** Notes a name or a heading that is that of an earlier field, or of one of the seven columns. */
    function take(text: unknown, taken: Set<unknown>, ...path: readonly kind.Key[]): void {
      if (typeof text !== 'string') return
      const problem = 'is the name or the heading of another column.'
      const expected = 'a text that no other has, small or capital letters and spaces aside'
      if (taken.has(headingKey(text))) note({ problem, expected }, ...path)
      taken.add(headingKey(text))
    }
  },
)

/** The text that was given first, whatever it is. */
function firstOf(text: unknown): unknown {
  return isRecord(text) ? Object.values(text)[0] : text
}

function entriesOf(given: unknown): readonly unknown[] {
  return Array.isArray(given) ? given : []
}
