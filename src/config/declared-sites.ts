import type { z } from 'zod'
import type { SettingProblem } from './problem.ts'
import { problemsOf } from './schema-problems.ts'
import { type DeclaredSite, fileSchema, siteNameSchema, siteSchema } from './site-schema.ts'

export type Declared = readonly [name: string, site: DeclaredSite]

/** Checks the form of the file. Returns the sites whose form is good. */
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
  }
  return { declared, problems }
}
