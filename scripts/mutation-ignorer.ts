/**
 * Leaves the texts of SQL out of the mutations. A module makes each once, so only the first test that needs
 * it would see the mutation.
 */
interface Node {
  readonly type: string
  readonly callee?: { readonly name?: string }
}

export const strykerPlugins = [
  {
    kind: 'Ignore',
    name: 'sql',
    value: {
      shouldIgnore: ({ node }: { readonly node: Node }) =>
        node.type === 'CallExpression' && node.callee?.name === 'statementsOf'
          ? 'SQL is made once.'
          : undefined,
    },
  },
]
