import { HtmlValidate } from 'html-validate'

const validator = new HtmlValidate({
  extends: ['html-validate:standard', 'html-validate:a11y'],
})

/** The rule, place and message of each problem that html-validate finds in a whole page. */
export async function htmlProblems(html: string): Promise<string[]> {
  const { results } = await validator.validateString(html)
  return results.flatMap(({ messages }) =>
    messages.map(
      ({ ruleId, line, column, message }) => `${ruleId} at ${line}:${column}: ${message}`,
    ),
  )
}
