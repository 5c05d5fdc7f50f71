import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../../harness/source-file.ts'

/** A block of code on a page of the documentation. */
export interface Snippet {
  /** The heading above it, and its number among the blocks there in its language, from 1. */
  readonly title: string
  readonly language: string
  readonly code: string
}

/** The address that stands for the service in the documentation. */
export const documentedUrl = 'https://signup.example.com'

export function readSnippets(path: string): Snippet[] {
  const sections = readFileSync(join(projectRoot, path), 'utf8').split('\n## ')
  return sections.flatMap((section) => {
    const [heading = ''] = section.split('\n', 1)
    const counts = new Map<string, number>()
    return [...section.matchAll(/^```(\S+)\n([^]*?)^```$/gm)].map(
      ([, language = '', code = '']) => {
        const count = (counts.get(language) ?? 0) + 1
        counts.set(language, count)
        return { title: `${heading} ${count}`, language, code }
      },
    )
  })
}
