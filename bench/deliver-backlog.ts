import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { projectRoot } from '../harness/source-file.ts'
import type { World } from './world.ts'

/** What the delivery of a backlog has cost. */
export interface Delivered {
  readonly rows: number
  readonly calls: number
  readonly cpuMicroseconds: number
  /** The time with calls of 350 ms and with all waits. */
  readonly milliseconds: number
}

/** Delivers the backlog of a journal, in a process of its own, as the sources in `tree` do it. */
export async function deliver(
  world: World,
  journal: { readonly DATA_DIR: string } | { readonly DATABASE_URL: string },
  tree = projectRoot,
): Promise<Delivered> {
  const provider = await world.provider()
  const env = { ...process.env, ...journal, PROVIDER_URL: provider.url }
  const program = join(tree, 'bench/programs/deliver.ts')
  const { stdout } = await promisify(execFile)(process.execPath, [program], { env })
  const cost = JSON.parse(stdout) as Omit<Delivered, 'calls'>
  const answer = await fetch(`${provider.url}/rows`)
  const { rows, calls } = (await answer.json()) as { rows: number; calls: number }
  if (rows !== cost.rows) throw new Error(`${rows} rows arrived instead of ${cost.rows}.`)
  return { ...cost, calls }
}
