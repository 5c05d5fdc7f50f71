/** As `max-lines-per-function`, for tests: a function that only holds tests, as that of `describe`, may be longer. */
export const testLength = {
  meta: { schema: [{ type: 'integer' }] },
  create: (context) => ({
    ':function'(node) {
      const lines = node.loc.end.line - node.loc.start.line + 1
      if (lines <= context.options[0] || holdsTests(node)) return
      context.report({ node, message: `A function of ${lines} lines: give its parts names.` })
    },
  }),
}

function holdsTests({ body }) {
  const statements = body.type === 'BlockStatement' ? body.body : []
  return statements.some(
    ({ type, expression }) => type === 'ExpressionStatement' && isTestCall(expression),
  )
}

/** `test(…)`, `describe.each(…)(…)` and the like. */
function isTestCall(node) {
  if (node.type === 'Identifier') return /^(test|it|describe|suite)$/.test(node.name)
  if (node.type === 'CallExpression') return isTestCall(node.callee)
  return node.type === 'MemberExpression' && isTestCall(node.object)
}
