import { HtmlValidate } from 'html-validate'

const validator = new HtmlValidate({
  extends: ['html-validate:standard', 'html-validate:a11y'],
})

/** What html-validate finds in a whole page: rule, place and message of each. */
export async function htmlProblems(html: string): Promise<string[]> {
  const { results } = await validator.validateString(html)
  return results.flatMap(({ messages }) =>
    messages.map(
      ({ ruleId, line, column, message }) => `${ruleId} at ${line}:${column}: ${message}`,
    ),
  )
}
