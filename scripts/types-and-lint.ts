/**
 * A part of `npm run check`: checks the types of both projects, then lints all files with the same programs,
 * because ESLint's own take 20 s of processor time more. Prints what is wrong, and exits with 1.
 */
import { ESLint, type Linter } from 'eslint'
import ts from 'typescript'
import { parser } from 'typescript-eslint'

const programs = ['tsconfig.json', 'browser/tsconfig.json'].map(programOf)
const diagnostics = programs.flatMap((program) => ts.getPreEmitDiagnostics(program))
process.stdout.write(
  ts.formatDiagnosticsWithColorAndContext(diagnostics, {
    getCanonicalFileName: (name) => name,
    getCurrentDirectory: () => process.cwd(),
    getNewLine: () => ts.sys.newLine,
  }),
)

/** The parser's own type leaves the options out. */
const parse = parser.parseForESLint.bind(parser) as (
  text: string,
  options: object,
) => Linter.ESLintParseResult

const eslint = new ESLint({
  cache: true,
  cacheLocation: 'node_modules/.cache/eslint/',
  overrideConfig: [
    {
      files: ['**/*.ts'],
      languageOptions: {
        parser: {
          meta: { name: 'typescript-eslint with our programs' },
          parseForESLint: (text: string, options: object) =>
            parse(text, { ...options, projectService: false, programs }),
        },
      },
    },
  ],
})
const results = await eslint.lintFiles('.')
const formatter = await eslint.loadFormatter('stylish')
process.stdout.write(await formatter.format(results))

const wrong = results.some(({ errorCount, warningCount }) => errorCount + warningCount > 0)
if (wrong || diagnostics.length > 0) process.exitCode = 1

function programOf(path: string): ts.Program {
  const config = ts.getParsedCommandLineOfConfigFile(path, undefined, {
    ...ts.sys,
    onUnRecoverableConfigFileDiagnostic: ({ messageText }) => {
      throw new Error(ts.flattenDiagnosticMessageText(messageText, '\n'))
    },
  })
  if (!config) throw new Error(`${path} cannot be read.`)
  // Rules look at the parents of nodes.
  const host = ts.createCompilerHost(config.options, true)
  return ts.createProgram({ rootNames: config.fileNames, options: config.options, host })
}
