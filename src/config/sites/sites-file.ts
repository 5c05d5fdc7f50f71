import type { z } from 'zod'
import { isRecord } from '../../signup/json.ts'
import { parseJson } from '../../signup/json-text.ts'
import type { ParsedSetting, SettingRefusal } from '../refusal.ts'
import type { SettingProblem } from '../problem.ts'
import { type Files, readFileAt } from '../read-file.ts'
import { problemsOf } from './schema-problems.ts'
import { type DeclaredSite, fileSchema, siteNameSchema, siteSchema } from './site-schema.ts'
import { filePath } from '../values.ts'

/** As the environment could not hold more either. */
const charactersMax = 1_048_576

const expected = 'the path of a JSON file as docs/sites.md describes it, or the JSON itself'

/** Parses `ROLLCALL_CONFIG`: the JSON in the file that it names, or its own. */
export function sitesJson(files: Files): (text: string) => ParsedSetting<object> {
  return (text) => {
    if (text.startsWith('{')) return jsonObject(text)
    const path = filePath(text)
    if (!('value' in path)) return { ...path, expected }
    const content = readFileAt(files, path.value, expected)
    if (!('value' in content)) return content
    const parsed = jsonObject(content.value.replace(/^\uFEFF/, ''))
    if ('value' in parsed) return parsed
    return { ...parsed, problem: `names a file that cannot be used: it ${parsed.problem}` }
  }
}

function jsonObject(text: string): ParsedSetting<object> {
  if (text.length > charactersMax) return refusal('is longer than 1 MiB.', 'Make it shorter.')
  if (/[\0\uFFFD]/.test(text)) {
    const hint = 'Save it as UTF-8. Windows PowerShell writes UTF-16 by default.'
    return refusal('is not text in UTF-8.', hint)
  }
  const parsed = parseJson(text)
  if ('value' in parsed) {
    const { value } = parsed
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { value }
    return refusal('is not a JSON object.', 'Write { "sites": { … } }.')
  }
  if (!parsed.problem.startsWith('is not valid JSON')) {
    return refusal(`${parsed.problem}.`, 'Correct it.')
  }
  return syntaxProblem(text) ?? refusal(`${parsed.problem}.`, 'Correct it; an editor shows where.')
}

function refusal(problem: string, hint: string): SettingRefusal {
  return { problem, expected, hint }
}

const token = /[ \t\r\n]+|[{}[\]:,]|"(?:[^"\\\n]|\\.)*"|-?\d[\d.eE+-]*|true|false|null/y

/** What people write that is no JSON, with its line. Quotes nothing of the text, which may be a secret. */
function syntaxProblem(text: string): SettingRefusal | undefined {
  let comma: number | undefined
  for (token.lastIndex = 0; token.lastIndex < text.length;) {
    const at = token.lastIndex
    const found = token.exec(text)?.[0]
    if (found === undefined) return oddProblem(text, at)
    if ((found === '}' || found === ']') && comma !== undefined) {
      const where = `has a comma behind the last entry, in line ${lineAt(text, comma)}.`
      return refusal(where, 'Remove that comma.')
    }
    if (found === ',') comma = at
    else if (!/^\s/.test(found)) comma = undefined
  }
  return undefined
}

function oddProblem(text: string, at: number): SettingRefusal {
  const where = `in line ${lineAt(text, at)}`
  if (/^(\/\/|\/\*|#)/.test(text.slice(at, at + 2))) {
    return refusal(`has a comment ${where}.`, 'Remove it: JSON has no comments.')
  }
  const hint = 'Write names and texts between double quotes, and numbers, true and false without.'
  return refusal(`is not valid JSON ${where}.`, hint)
}

function lineAt(text: string, at: number): number {
  return text.slice(0, at).split('\n').length
}

export type Declared = readonly [name: string, site: DeclaredSite]

/**
 * Checks the form of the file. Returns what is good of each site, so that what is wrong with the sites
 * together is told at the same time.
 */
export function declaredIn(file: object): { declared: Declared[]; problems: SettingProblem[] } {
  const around = fileSchema.safeParse(file)
  const problems = [...problemsOf(around.error?.issues ?? [], file)]
  const named = 'sites' in file ? file.sites : undefined
  const declared: Declared[] = []
  if (typeof named !== 'object' || named === null || Array.isArray(named)) {
    return { declared, problems }
  }
  for (const [name, given] of Object.entries(named)) {
    const path = ['sites', name]
    const issues = (parsed: z.ZodSafeParseResult<unknown>) =>
      problemsOf(parsed.error?.issues ?? [], file, path)
    const site = siteSchema.safeParse(given)
    problems.push(...issues(siteNameSchema.safeParse(name)), ...issues(site))
    if (site.success) declared.push([name, site.data])
    else if (isRecord(given)) declared.push([name, goodPart(name, given)])
  }
  return { declared, problems }
}

function goodPart(name: string, given: Readonly<Record<string, unknown>>): DeclaredSite {
  const parts = Object.entries(siteSchema.shape).flatMap(([key, schema]) => {
    const part = schema.safeParse(given[key])
    if (part.success) return [[key, part.data]]
    // Somebody wants a spreadsheet for this site, even if it is not known which.
    return key === 'spreadsheet' ? [[key, `that of ${name}`]] : []
  })
  return Object.fromEntries(parts) as DeclaredSite
}
