import type { z } from 'zod'
import { stampField, unseenField } from './filter-fields.ts'
import { formFields, tokenFields } from './form.ts'
import { type Field, type FieldValues, noFields } from './field.ts'
import { type FieldProblem, readFields } from './field-values.ts'
import { isRecord } from './json.ts'
import { limits } from './limits.ts'
import { bulkItemSchema, bulkSchema, compiledOf, formSchema, signupSchema } from './schema.ts'
import { type Signup, tabKey } from './signup.ts'
import { suggest } from '../platform/suggest.ts'
import { tabProblem, tabsByKey } from './tab.ts'
import { cleanText, firstNames } from './text.ts'

/** A signup that passed every check but is not yet accepted, and the fields that are not stored. */
export interface ParsedSignup extends Omit<Signup, 'id' | 'receivedAt'> {
  /** Not stored. Cut one character past `tokenCharactersMax`. */
  readonly challengeToken?: string | undefined
  /** From forms only, and not stored. Cut one character past `redirectCharactersMax`. */
  readonly redirect?: string | undefined
  /** What stood in the field that people never see. From forms only, not stored, and cut to a bound, as `stamp`. */
  readonly message?: string | undefined
  readonly stamp?: string | undefined
  /** Whether the request says that the person has confirmed. From JSON only, and not stored. */
  readonly isConfirmed?: boolean
}

export type Parsed =
  | { readonly ok: true; readonly value: ParsedSignup }
  | { readonly ok: false; readonly problems: readonly FieldProblem[] }

export interface ParseContext {
  readonly defaultTab: string
  /** The tabs named in the settings, from `tabsByKey`. Their spelling is used. */
  readonly knownTabs?: ReadonlyMap<string, string>
  /** Whether only these tabs and the default tab are allowed. */
  readonly onlyKnownTabs?: boolean
  /** The key of the overflow tab, which nobody can name. */
  readonly overflowKey?: string | undefined
  /** How the signup came. In a `bulk` signup the challenge token is an unknown field. */
  readonly source: 'api' | 'form' | 'embed' | 'bulk' | 'import'
  /** The site's own fields; none when this is absent. Only an import may leave out required ones. */
  readonly fields?: readonly Field[]
}

/** The most unknown fields that are reported. A body can hold a hundred thousand. */
const unknownFieldsMax = 20
const unknownNameCharactersMax = 64

/** The problem of a signup with a new tab when there are too many tabs. */
export const tooManyTabs: FieldProblem = {
  field: 'sheetTab',
  message:
    'This tab does not exist, and no more new ones are made just now: name one that exists, or ' +
    'leave it out.',
}

/** A signup from JSON, or everything that is wrong with it. Never throws. */
export function parseSignup(input: unknown, context: ParseContext): Parsed {
  return parse(context.source === 'bulk' ? bulkItemSchema : signupSchema, input, context)
}

/** A signup from the text fields of a form, or everything that is wrong with it. Never throws. */
export function parseForm(
  entries: Iterable<readonly [name: string, value: string]>,
  context: ParseContext,
): Parsed {
  const list = [...entries]
  if (list.length > limits.formFieldsMax) {
    const message = `The form has too many fields: at most ${limits.formFieldsMax}.`
    return { ok: false, problems: [{ field: '', message }] }
  }
  return parse(formSchema, formFields(list, context.fields), context)
}

export type ParsedBulk =
  | {
      readonly ok: true
      /** At least one. Parse each with `parseSignup`. */
      readonly items: readonly unknown[]
      /** One token for all items, cut like the token of a signup. */
      readonly challengeToken?: string | undefined
      /** Whether the request says that the people of all items have confirmed. */
      readonly isConfirmed?: boolean
    }
  | { readonly ok: false; readonly problems: readonly FieldProblem[] }

/** The envelope of a bulk request, or everything that is wrong with it. Never throws. */
export function parseBulk(input: unknown): ParsedBulk {
  const result = bulkSchema.safeParse(input)
  if (!result.success) return { ok: false, problems: problemsOf(result.error, bulkSchema, {}) }
  const { signups: items, challengeToken, confirmed } = result.data
  const isConfirmed = confirmed === true && { isConfirmed: true }
  return { ok: true, items, challengeToken: present(challengeToken), ...isConfirmed }
}

type SignupSchema = typeof bulkItemSchema | typeof signupSchema | typeof formSchema
type Schema = SignupSchema | typeof bulkSchema

function parse(schema: SignupSchema, input: unknown, context: ParseContext): Parsed {
  if (!isRecord(input)) {
    const message = 'A signup must be a JSON object, such as {"email":"name@example.com"}.'
    return { ok: false, problems: [{ field: '', message }] }
  }
  const { rest, own } = splitOff(input, schema, context)
  const result = compiledOf<SignupSchema>(schema).safeParse(rest)
  const ofTab = tabProblems(rest, context)
  if (result.success && ofTab.length === 0 && own.problems.length === 0) {
    return { ok: true, value: complete(result.data, own.values, context) }
  }
  const problems = result.success ? [] : problemsOf(result.error, schema, context)
  return { ok: false, problems: [...problems, ...own.problems, ...ofTab] }
}

/** Takes the site's own fields out of the input, so that the rest has only the contract's. */
function splitOff(
  input: Readonly<Record<string, unknown>>,
  schema: SignupSchema,
  { fields = [], source }: ParseContext,
) {
  if (fields.length === 0) return { rest: input, own: { values: noFields, problems: [] } }
  const names = new Set(fields.map(({ name }) => name))
  const rest = Object.fromEntries(Object.entries(input).filter(([name]) => !names.has(name)))
  const rules = { isForm: schema === formSchema, needsRequired: source !== 'import' }
  return { rest, own: readFields(input, fields, rules) }
}

/** What is wrong with tabs whose names are valid: they are not allowed, or are two different ones. */
function tabProblems(
  input: Readonly<Record<string, unknown>>,
  context: ParseContext,
): readonly FieldProblem[] {
  const keys = (['sheetTab', 'tab'] as const).flatMap((field) => {
    const given = Object.hasOwn(input, field) ? input[field] : undefined
    const tab = typeof given === 'string' ? given.trim() : ''
    // After the length check, as normalising combining marks takes the square of their number.
    return tabProblem(tab) === undefined ? [{ field, key: tabKey(tab) }] : []
  })
  const [first, second] = keys
  if (first && second && first.key !== second.key) {
    const message = 'The fields tab and sheetTab name different tabs: send one of them.'
    return [{ field: 'tab', message }]
  }
  const allowed = first && allowedTabs(context)
  const isOverflow = first !== undefined && first.key === context.overflowKey
  if (!first || (!isOverflow && allowed?.has(first.key) !== false)) return []
  const others = allowed
    ? `Those that do: ${firstNames([...allowed.values()])}.`
    : 'Name another one, or leave it out.'
  const message = `This tab takes no signups. ${others}`
  return [{ field: first.field, message }]
}

/** The only tabs that take signups, as `tabsByKey`; undefined when any does. */
export function allowedTabs({
  onlyKnownTabs,
  knownTabs,
  defaultTab,
}: Omit<ParseContext, 'source'>): ReadonlyMap<string, string> | undefined {
  return onlyKnownTabs ? tabsByKey([defaultTab, ...(knownTabs?.values() ?? [])]) : undefined
}

/** Fills in what was absent. */
function complete(
  fields: z.output<typeof formSchema> & Pick<z.output<typeof signupSchema>, 'confirmed'>,
  own: FieldValues,
  context: ParseContext,
): ParsedSignup {
  const given = present(fields.sheetTab) ?? present(fields.tab)
  const { defaultTab } = context
  return {
    email: fields.email,
    sheetTab: given === undefined ? defaultTab : spelled(given, context),
    source: present(fields.source) ?? context.source,
    name: fields.name ?? '',
    tags: fields.tags ?? [],
    metadata: fields.metadata ?? '',
    fields: own,
    challengeToken: tokenFields.map((field) => present(fields[field])).find(Boolean),
    redirect: present(fields.redirect),
    message: present(fields[unseenField]?.trim()),
    stamp: present(fields[stampField]),
    ...(fields.confirmed === true && { isConfirmed: true }),
  }
}

function present(text: string | null | undefined): string | undefined {
  return text === null || text === '' ? undefined : text
}

function spelled(tab: string, { defaultTab, knownTabs }: ParseContext): string {
  const key = tabKey(tab)
  return key === tabKey(defaultTab) ? defaultTab : (knownTabs?.get(key) ?? tab)
}

/** The first problem of each field. */
function problemsOf(
  error: z.ZodError,
  schema: Schema,
  { fields = [] }: Pick<ParseContext, 'fields'>,
): readonly FieldProblem[] {
  const problems = error.issues.flatMap((issue): readonly FieldProblem[] => {
    if (issue.code !== 'unrecognized_keys') {
      return [{ field: fieldOf(issue.path), message: issue.message }]
    }
    return issue.keys.slice(0, unknownFieldsMax).map((name) => ({
      field: cleanText(name.slice(0, unknownNameCharactersMax)),
      message: unknownFieldMessage(name, schema, fields),
    }))
  })
  const fieldsInOrder = problems.map(({ field }) => field)
  return problems.filter(({ field }, at) => fieldsInOrder.indexOf(field) === at)
}

function fieldOf(path: readonly PropertyKey[]): string {
  const [field = '', index] = path
  return index === undefined ? String(field) : `${String(field)}[${String(index)}]`
}

function unknownFieldMessage(name: string, schema: Schema, fields: readonly Field[]): string {
  if (Object.hasOwn(signupSchema.shape, name)) {
    return schema === bulkSchema
      ? 'Unknown field here: it belongs into each signup of the list.'
      : `Unknown field here: one ${name === 'confirmed' ? 'mark' : 'token'} for the whole request belongs beside "signups".`
  }
  const known = [...fields.map((field) => field.name), ...Object.keys(schema.shape)]
  // Comparing takes long, and a bulk request can have many unknown fields.
  const meant = schema === bulkItemSchema ? undefined : suggest(name, known)
  if (meant !== undefined) return `Unknown field. Did you mean "${meant}"?`
  const elsewhere = schema === bulkSchema ? '.' : '; anything else belongs in metadata.'
  return `Unknown field. Known are ${firstNames(known)}${elsewhere}`
}
