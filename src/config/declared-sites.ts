import type { z } from 'zod'
import { isRecord } from '../signup/json.ts'
import type { SettingProblem } from './problem.ts'
import { problemsOf } from './schema-problems.ts'
import { type DeclaredSite, fileSchema, siteNameSchema, siteSchema } from './site-schema.ts'

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
