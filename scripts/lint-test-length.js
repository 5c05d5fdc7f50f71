/** The rule `max-lines-per-function` for tests. Functions that only contain tests, as in `describe`, may be longer. */
export const testLength = {
  meta: { schema: [{ type: 'integer' }] },
  create: (context) => ({
    ':function'(node) {
      const lines = node.loc.end.line - node.loc.start.line + 1
      if (lines <= context.options[0] || holdsTests(node)) return
      context.report({
        node,
        message: `This function has ${lines} lines. Move parts of it into functions with names.`,
      })
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
