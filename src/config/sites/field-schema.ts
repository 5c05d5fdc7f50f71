import { z } from 'zod'
import type { Field } from '../../signup/field.ts'
import { isRecord } from '../../signup/json.ts'
import { columns, headingKey } from '../../signup/row.ts'
import { firstOf } from '../../signup/site-text.ts'
import { formSchema } from '../../signup/schema.ts'
import { closedObject, inLanguages, line, note } from '../schema-parts.ts'

/** More columns than people look at, and few enough for a form. */
const fieldsMax = 20
const labelCharactersMax = 100
const helpCharactersMax = 300
const placeholderCharactersMax = 100
const textCharactersMax = 2_000
const optionsMax = 200
const optionCharactersMax = 200

/**
 * Names that mean something else in a signup, in an exported line, or to JavaScript. A field may be called
 * `tab`, as some were before signups could name their tab by it: then only `sheetTab` does.
 */
const takenNames: ReadonlySet<string> = new Set(
  [
    ...Object.keys(formSchema.shape).filter((it) => it !== 'tab'),
    ...['site', 'timestamp', 'id', 'receivedAt', 'idempotencyKey'],
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

const common = {
  name,
  label: inLanguages(
    line(
      labelCharactersMax,
      'What visitors read beside the field, and the heading of its column; the name when it is left out.',
    ),
  ).optional(),
  required: z
    .boolean()
    .optional()
    .meta({ description: 'Whether a signup must have a value.', default: false }),
  help: inLanguages(line(helpCharactersMax, 'A line below the control.')).optional(),
}

const typed = {
  ...common,
  placeholder: inLanguages(
    line(placeholderCharactersMax, 'Stands in the control while it is empty.'),
  ).optional(),
}

const maxLength = z
  .int()
  .min(1)
  .max(textCharactersMax)
  .optional()
  .meta({ description: 'The most characters of the text.', default: 500 })

const text = closedObject({ ...typed, type: z.literal('text').optional(), maxLength })

const textarea = closedObject({ ...typed, type: z.literal('textarea'), maxLength })

const option = inLanguages(
  line(optionCharactersMax, 'A value as it is shown. The one given first is stored.'),
)

const options = z
  .array(option)
  .min(1)
  .max(optionsMax)
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

const types = [text, textarea, choice, choices, number, checkbox, url, date, phone] as const
const field = z.discriminatedUnion('type', types)

/** The fields of a site. Those with problems count when names are compared. */
export const fieldsSchema = z
  .array(field)
  .max(fieldsMax)
  .superRefine(
    (_, payload) => {
      noteTwice(payload, 'name', ({ name: it }) => it)
      noteTwice(
        payload,
        'label',
        ({ name: it, label = it }) => (isRecord(label) ? Object.values(label)[0] : label),
        columns,
      )
    },
    { when: ({ value }) => Array.isArray(value) },
  )
  .meta({
    description:
      'Columns of the site after the seven, in this order. Signups have their values; forms show them.',
  })

type Declared = z.output<typeof field>

/** A field as it is declared, with what it leaves out. */
export function fieldOf(declared: Declared): Field {
  const { required = false } = declared
  switch (declared.type) {
    case undefined:
    case 'text':
    case 'textarea': {
      const { type = 'text', maxLength = 500 } = declared
      return { ...declared, type, required, maxLength }
    }
    default:
      return { ...declared, required }
  }
}

/** Notes each field whose name or heading is taken by an earlier one, or by one of `taken`. */
function noteTwice(
  payload: z.core.ParsePayload,
  key: 'name' | 'label',
  of: (field: Readonly<Record<string, unknown>>) => unknown,
  taken: readonly string[] = [],
): void {
  const seen = new Set(taken.map(headingKey))
  const refusal =
    key === 'name'
      ? { problem: 'is the name of another field.', hint: 'Choose another name.' }
      : { problem: 'is the heading of another column.', hint: 'Give the field another label.' }
  const expected = 'a text that no other has, small or capital letters and spaces aside'
  for (const [at, it] of (payload.value as readonly unknown[]).entries()) {
    const text = isRecord(it) ? of(it) : undefined
    if (!isRecord(it) || typeof text !== 'string') continue
    const mark = headingKey(text)
    const place = it['label'] === undefined ? 'name' : key
    const isTold = payload.issues.some(({ path }) => path?.[0] === at && path[1] === place)
    if (seen.has(mark) && !isTold) note(payload, { ...refusal, expected }, [at, place])
    seen.add(mark)
  }
}
