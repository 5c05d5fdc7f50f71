import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { FrozenBatch } from '../../signup/batch.ts'
import { ourHeader } from '../header.ts'
import { codeOf } from '../../platform/node/durable-file.ts'
import type { DurableFiles } from '../../platform/node/durable-file.ts'

const batchIdSchema = z.object({ number: z.number(), fingerprint: z.string() })

/** What a batch is to add to one tab's file. */
const additionSchema = z.object({
  tab: z.string(),
  fileName: z.string(),
  /** The file was missing: giving the batch up deletes it. */
  creates: z.boolean(),
  /** The file's size in bytes before the first of ours. */
  sizeBefore: z.number(),
  /** A line end that the file's last line lacks, or the header row; else empty. */
  lead: z.string(),
  /** In the order of our columns; `header` says where their cells go. */
  rows: z.array(z.array(z.string())),
  header: z
    .object({ kind: z.enum(['ours', 'named', 'none']), at: z.array(z.number()) })
    .default({ ...ourHeader, at: [...ourHeader.at] }),
  /** Rows of other batches in the file that could be taken for ours: how many of each identity. */
  earlier: z.record(z.string(), z.number()).default({}),
  /** Between cells and after rows: those of the file. */
  delimiter: z.string(),
  lineEnd: z.string(),
  /** Other rows of the batch are in the file already, at places that cannot be told any more. */
  isRemainder: z.boolean(),
})

const intentSchema = batchIdSchema.extend({ additions: z.array(additionSchema) })

const settledSchema = z.object({
  applied: batchIdSchema.optional(),
  abandoned: z.array(batchIdSchema.extend({ marker: z.number() })),
})

export type Addition = Readonly<z.infer<typeof additionSchema>>
export type Intent = Readonly<z.infer<typeof intentSchema>>
type Settled = z.infer<typeof settledSchema>
type BatchId = z.infer<typeof batchIdSchema>

/**
 * What the workbook knows of its batches, in a hidden folder beside the tab files. An intent is
 * durable before the first byte of its batch reaches a tab file, and is a promise to finish: only
 * `abandon` and `withdraw` take it back. The batch applied last stays known until the next one is.
 */
export interface BatchRecord {
  /** Makes the folders. */
  prepare(): Promise<void>
  standingOf(batch: BatchId): Promise<'applied' | 'abandoned' | 'new'>
  /** The intent whose batch is neither applied nor abandoned. Deletes any other. */
  pending(): Promise<Intent | undefined>
  intend(intent: Intent): Promise<void>
  /** Forgets the intent: its batch is settled, or nothing of it is in any file. */
  withdraw(): Promise<void>
  /** From here on the batch is applied, whatever becomes of the intent. */
  settle(batch: BatchId): Promise<void>
  /** From here on the batch is abandoned, whatever becomes of the intent. */
  abandon(batch: FrozenBatch): Promise<void>
  forgetAbandoned(markers: readonly number[]): Promise<void>
}

/** The record is there and cannot be understood: somebody else has written in it. */
export class RecordDamaged extends Error {
  override readonly name = 'RecordDamaged'
}

export function openRecord(directory: string, files: DurableFiles): BatchRecord {
  const folder = join(directory, '.rollcall')
  const intentPath = join(folder, 'intent.json')
  const settledPath = join(folder, 'settled.json')

  async function settled(): Promise<Settled> {
    return (await readJson(settledPath, settledSchema)) ?? { abandoned: [] }
  }

  async function standingOf(batch: BatchId): Promise<'applied' | 'abandoned' | 'new'> {
    const { applied, abandoned } = await settled()
    if (applied && isSame(applied, batch)) return 'applied'
    return abandoned.some((other) => isSame(other, batch)) ? 'abandoned' : 'new'
  }

  async function saveSettled(next: Settled): Promise<void> {
    await files.replace(settledPath, JSON.stringify(next))
  }

  async function pending(): Promise<Intent | undefined> {
    const intent = await readJson(intentPath, intentSchema)
    if (!intent || (await standingOf(intent)) === 'new') return intent
    await files.remove(intentPath)
    return undefined
  }

  return {
    prepare: () => files.ensureDirectory(folder),
    standingOf,
    pending,

    intend: (intent) => files.replace(intentPath, JSON.stringify(intent)),
    withdraw: () => files.remove(intentPath),

    async settle({ number, fingerprint }) {
      await saveSettled({ ...(await settled()), applied: { number, fingerprint } })
    },

    async abandon({ number, fingerprint, marker }) {
      const before = await settled()
      const abandoned = [...before.abandoned, { number, fingerprint, marker }]
      await saveSettled({ ...before, abandoned })
    },

    async forgetAbandoned(markers) {
      const before = await settled()
      const abandoned = before.abandoned.filter(({ marker }) => !markers.includes(marker))
      if (abandoned.length === before.abandoned.length) return
      await pending() // Or a forgotten batch's leftover intent would count again.
      await saveSettled({ ...before, abandoned })
    },
  }
}

export function isSame(one: BatchId, other: BatchId): boolean {
  return one.number === other.number && one.fingerprint === other.fingerprint
}

async function readJson<T>(path: string, schema: z.ZodType<T>): Promise<T | undefined> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
  try {
    return schema.parse(JSON.parse(text))
  } catch (cause) {
    throw new RecordDamaged(`Reading ${path} failed: it is not what Rollcall wrote.`, { cause })
  }
}
