import { z } from 'zod'
import { isRecord } from '../../signup/json.ts'
import { columns, headingKey } from '../../signup/row.ts'
import { firstOf } from '../../signup/site-text.ts'
import { formSchema } from '../../signup/schema.ts'
import { line } from '../kinds.ts'
import { closedObject, inLanguages, note } from '../schema-parts.ts'

/** More columns than people look at, and few enough for a form. */
const fieldsMax = 20

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

const name = z
  .string()
  .check((payload) => {
    const expected =
      'a letter, and then letters, digits, _ and -: up to 40 characters, such as company'
    if (!namePattern.test(payload.value)) {
      const hint = 'Choose such a name for programs. Visitors read the label.'
      note(payload, { problem: 'cannot be the name of a field.', expected, hint })
    } else if (takenNames.has(payload.value.toLowerCase())) {
      const hint = 'Choose another name. Visitors read the label.'
      note(payload, { problem: 'is a name that Rollcall or JavaScript uses.', expected, hint })
    }
  })
  .meta({
    description: 'Signups carry the value under this name.',
    pattern: namePattern.source,
  })

/** A text for visitors, which may be in several languages. */
function words(charactersMax: number, example: string, description: string) {
  return inLanguages(line(charactersMax).json(example).meta({ description }))
}

const common = {
  name,
  label: words(
    100,
    'Company',
    'What visitors read beside the field, and the heading of its column; the name when it is left out.',
  ).optional(),
  required: z.boolean().default(false).meta({ description: 'Whether a signup must have a value.' }),
  help: words(300, 'As on the invoice.', 'A line below the control.').optional(),
}

const typed = {
  ...common,
  placeholder: words(100, 'Acme Inc.', 'Stands in the control while it is empty.').optional(),
}

const maxLength = z
  .int()
  .min(1)
  .max(2_000)
  .default(500)
  .meta({ description: 'The most characters of the text.' })

/** The type of a field that names none. */
const text = closedObject({ ...typed, type: z.literal('text').optional(), maxLength })

const textarea = closedObject({ ...typed, type: z.literal('textarea'), maxLength })

const option = words(200, 'Small', 'A value as it is shown. The one given first is stored.')

const options = z
  .array(option)
  .min(1)
  .max(200)
  .check((payload) => {
    const all = payload.value.map(firstOf)
    const again = all.findIndex((it, at) => all.indexOf(it) < at)
    if (again === -1) return
    const expected = 'an option that is not in the list yet'
    note(payload, { problem: 'is in the list twice.', expected, hint: 'Remove it.' }, [again])
  })
  .meta({ description: 'The values that a visitor chooses from.', uniqueItems: true })

const choice = closedObject({ ...common, type: z.literal('choice'), options })

const choices = closedObject({
  ...common,
  type: z.literal('choices'),
  options: options.check((payload) => {
    for (const [at, it] of payload.value.map(firstOf).entries()) {
      if (!it.includes(',')) continue
      const expected = 'an option without a comma, as commas stand between options in the cell'
      note(payload, { problem: 'has a comma.', expected, hint: 'Write it without.' }, [at])
    }
  }),
})

const number = closedObject({
  ...typed,
  type: z.literal('number'),
  min: z.number().optional().meta({ description: 'The least number.' }),
  max: z.number().optional().meta({ description: 'The greatest number.' }),
}).check((payload) => {
  const { min = -Infinity, max = Infinity } = payload.value
  if (min <= max) return
  const expected = `a number that is not less than min, which is ${min}`
  note(payload, { problem: 'is less than min.', expected, hint: 'Correct one of them.' }, ['max'])
})

const checkbox = closedObject({ ...common, type: z.literal('checkbox') })
const date = closedObject({ ...common, type: z.literal('date') })
const url = closedObject({ ...typed, type: z.literal('url') })
const phone = closedObject({ ...typed, type: z.literal('phone') })

const types = { text, textarea, choice, choices, number, checkbox, url, date, phone }
const { text: _, ...others } = types
const field = z.discriminatedUnion('type', [
  text.transform((it) => ({ ...it, type: 'text' as const })),
  ...Object.values(others),
])

/** The types of fields that have this key, between quotes. */
export function typesWith(key: string): readonly string[] {
  return Object.entries(types).flatMap(([type, { shape }]) =>
    Object.hasOwn(shape, key) ? [`"${type}"`] : [],
  )
}

/** The fields of a site. Those with problems count when names are compared. */
export const fieldsSchema = z
  .array(field)
  .max(fieldsMax)
  .superRefine((_, payload) => noteTaken(payload), { when: ({ value }) => Array.isArray(value) })
  .meta({
    description:
      'Columns of the site after the seven, in this order. Signups have their values; forms show them.',
  })

/** Notes each field whose name or heading is that of an earlier one, or of one of the seven columns. */
function noteTaken(payload: z.core.ParsePayload): void {
  const names = new Set<string>()
  const headings = new Set(columns.map(headingKey))
  for (const [at, given] of (payload.value as readonly unknown[]).entries()) {
    if (!isRecord(given)) continue
    const { name: ownName, label = ownName } = given
    const heading = isRecord(label) ? Object.values(label)[0] : label
    take(ownName, names, [at, 'name'])
    take(heading, headings, [at, given['label'] === undefined ? 'name' : 'label'])
  }

  function take(text: unknown, taken: Set<string>, path: [number, string]): void {
    if (typeof text !== 'string') return
    const isTold = payload.issues.some((issue) => issue.path?.join() === path.join())
    if (taken.has(headingKey(text)) && !isTold) {
      const problem = 'is the name or the heading of another column.'
      const expected = 'a text that no other has, small or capital letters and spaces aside'
      note(payload, { problem, expected, hint: 'Choose another one.' }, path)
    }
    taken.add(headingKey(text))
  }
}
