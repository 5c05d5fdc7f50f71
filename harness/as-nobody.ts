import { chown, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { projectRoot } from './source-file.ts'
import type { StartOptions } from './start-service.ts'
import type { TempFolder } from './temp-folder.ts'

/**
 * Starts the service as the user "nobody" when root runs the tests, as no file is closed to root. The
 * folder is given to "nobody".
 */
export async function asNobody({ path }: TempFolder): Promise<StartOptions> {
  if (process.getuid?.() !== 0) return {}
  const nobody = 65534
  await chown(path, nobody, nobody)
  const program = join(path, 'start.mjs')
  await writeFile(
    program,
    // Loaded first: "nobody" may not be allowed to read the project.
    `const { serve } = await import(${JSON.stringify(join(projectRoot, 'src/cli/serve.ts'))})
     process.chdir(${JSON.stringify(path)})
     process.setgid(${nobody})
     process.setuid(${nobody})
     process.exitCode = await serve(process.stdout, process.stderr)`,
  )
  return { program }
}
