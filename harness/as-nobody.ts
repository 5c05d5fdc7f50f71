import { chown, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { projectRoot } from './source-file.ts'
import type { StartOptions } from './start-service.ts'
import type { TempFolder } from './temp-folder.ts'

/**
 * Options that start the service as the user "nobody" when root runs the tests, because root may read
 * and write every file. Makes "nobody" the owner of the folder.
 */
export async function asNobody({ path }: TempFolder): Promise<StartOptions> {
  if (process.getuid?.() !== 0) return {}
  const nobody = 65534
  await chown(path, nobody, nobody)
  const program = join(path, 'start.mjs')
  await writeFile(
    program,
    // Load the service first, because "nobody" may not be allowed to read the project.
    `const { runProgram } = await import(${JSON.stringify(join(projectRoot, 'src/cli/program.ts'))})
     process.chdir(${JSON.stringify(path)})
     process.setgid(${nobody})
     process.setuid(${nobody})
     process.exitCode = await runProgram([], process, new AbortController().signal)`,
  )
  return { program }
}
