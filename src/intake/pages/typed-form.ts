/** The fields of a form as they were posted, in order. */
export type FormEntries = readonly (readonly [name: string, value: string])[]

/** What a posted form held, sorted by where our own form shows it. */
export interface TypedForm {
  readonly email: string
  /** Absent when the form that was posted had no such field: then ours has none either. */
  readonly name?: string
  /** All the rest, sent along unseen: what the page's author put in, and fields unknown to us. */
  readonly hidden: FormEntries
}

/** Each token is good for one try: the widget puts in a fresh one. */
const tokenFields = new Set([
  'challengeToken',
  'cf-turnstile-response',
  'h-captcha-response',
  'g-recaptcha-response',
])

export function typedForm(entries: FormEntries): TypedForm {
  const name = firstValue(entries, 'name')
  return {
    email: firstValue(entries, 'email') ?? '',
    ...(name !== undefined && { name }),
    hidden: entries.filter(
      ([field, value]) =>
        value !== '' && field !== 'email' && field !== 'name' && !tokenFields.has(field),
    ),
  }
}

/** The first that is not empty, if there is one. */
function firstValue(entries: FormEntries, field: string): string | undefined {
  const values = entries.filter(([name]) => name === field).map(([, value]) => value)
  return values.find((value) => value !== '') ?? values[0]
}
