import type { z } from 'zod'
import { isRecord, parseJson } from '../../signup/json.ts'
import type { ParsedSetting, SettingRefusal } from '../refusal.ts'
import type { SettingProblem } from '../problem.ts'
import { type Files, parseFileAt } from '../read-file.ts'
import { problemsOf } from './schema-problems.ts'
import { type DeclaredSite, fileSchema, siteNameSchema, siteSchema } from './site-schema.ts'

/** As the environment could not hold more either. */
const charactersMax = 1_048_576

const expected = 'the path of a JSON file as docs/sites.md describes it, or the JSON itself'

/** Parses `ROLLCALL_CONFIG`: the JSON in the file that it names, or its own. */
export function sitesJson(files: Files): (text: string) => ParsedSetting<object> {
  return (text) =>
    text.startsWith('{')
      ? jsonObject(text)
      : parseFileAt(files, text, expected, (content) => jsonObject(content.replace(/^\uFEFF/, '')))
}

function jsonObject(text: string): ParsedSetting<object> {
  if (text.length > charactersMax) return refusal('is longer than 1 MiB.', 'Make it shorter.')
  if (/[\0\uFFFD]/.test(text)) {
    const hint = 'Save it as UTF-8. Windows PowerShell writes UTF-16 by default.'
    return refusal('is not text in UTF-8.', hint)
  }
  const parsed = parseJson(text)
  if ('problem' in parsed) return refusal(`${parsed.problem}.`, correctIt)
  if (isRecord(parsed.value)) return { value: parsed.value }
  return refusal('is not a JSON object.', 'Write { "sites": { … } }.')
}

const correctIt =
  'Correct it; an editor shows where. JSON has double quotes, no comments, and no comma behind a last entry.'

function refusal(problem: string, hint: string): SettingRefusal {
  return { problem, expected, hint }
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
  if (!isRecord(named)) return { declared, problems }
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
