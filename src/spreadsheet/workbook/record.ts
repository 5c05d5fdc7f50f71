import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { FrozenBatch } from '../../signup/batch.ts'
import { type DurableFiles, ifExists } from '../../platform/node/durable-file.ts'

const batchIdSchema = z.object({ number: z.number(), fingerprint: z.string() })

/** What a batch adds to one tab's file. */
const additionSchema = z.object({
  tab: z.string(),
  fileName: z.string(),
  /** Whether the file was missing. Then giving the batch up deletes it. */
  creates: z.boolean(),
  /** The file's size in bytes before our first byte. */
  sizeBefore: z.number(),
  /** Text before the rows: the header row, or a line end that the file's last line lacks; else empty. */
  lead: z.string(),
  /** The rows in the order of our columns. `header` tells where the cells go. */
  rows: z.array(z.array(z.union([z.string(), z.number(), z.boolean()]))),
  /** The site's own columns when the rows were made. Older records have none. */
  own: z.array(z.object({ name: z.string(), heading: z.string() })).default([]),
  header: z.object({ kind: z.enum(['ours', 'named', 'none']), at: z.array(z.number()) }),
  /** How many rows of earlier batches in the file look like ours: see `countRows`. */
  earlier: z.record(z.string(), z.number()),
  /** The delimiter and the line end of the file. */
  delimiter: z.string(),
  lineEnd: z.string(),
  /** Whether other rows of the batch are already in the file, at unknown places. */
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

/** The record exists but cannot be read, because somebody else has changed it. */
export class RecordDamaged extends Error {
  override readonly name = 'RecordDamaged'
}

/** The hidden folder of the workbook that has its record. */
export function recordFolder(directory: string): string {
  return join(directory, '.rollcall')
}

/**
 * The workbook's record of its batches, in a hidden folder beside the tab files. An intent is on disk
 * before the first byte of its batch reaches a tab file, and promises to finish the batch; only
 * `abandon` and `withdraw` take it back. The last applied batch is remembered until the next one.
 */
export class BatchRecord {
  readonly #folder: string
  readonly #files: DurableFiles

  constructor(directory: string, files: DurableFiles) {
    this.#folder = recordFolder(directory)
    this.#files = files
  }

  prepare(): Promise<void> {
    return this.#files.ensureDirectory(this.#folder)
  }

  async standingOf(batch: BatchId): Promise<'applied' | 'abandoned' | 'new'> {
    const { applied, abandoned } = await this.#settled()
    if (applied && isSame(applied, batch)) return 'applied'
    return abandoned.some((other) => isSame(other, batch)) ? 'abandoned' : 'new'
  }

  /** The intent whose batch is neither applied nor abandoned. Deletes any other. */
  async pending(): Promise<Intent | undefined> {
    const intent = await readJson(this.#intentPath, intentSchema)
    if (!intent || (await this.standingOf(intent)) === 'new') return intent
    await this.withdraw()
    return undefined
  }

  intend(intent: Intent): Promise<void> {
    return this.#files.replace(this.#intentPath, JSON.stringify(intent))
  }

  /** Deletes the intent. Its batch must be settled, or nothing of it may be in any file. */
  withdraw(): Promise<void> {
    return this.#files.remove(this.#intentPath)
  }

  /** Marks the batch as applied, even if its intent is still there. */
  async settle({ number, fingerprint }: BatchId): Promise<void> {
    await this.#save({ ...(await this.#settled()), applied: { number, fingerprint } })
  }

  /** Marks the batch as abandoned, even if its intent is still there. */
  async abandon({ number, fingerprint, marker }: FrozenBatch): Promise<void> {
    const before = await this.#settled()
    const abandoned = [...before.abandoned, { number, fingerprint, marker }]
    await this.#save({ ...before, abandoned })
  }

  async forgetAbandoned(markers: readonly number[]): Promise<void> {
    const before = await this.#settled()
    const abandoned = before.abandoned.filter(({ marker }) => !markers.includes(marker))
    if (abandoned.length === before.abandoned.length) return
    await this.pending() // Deletes the leftover intent of a forgotten batch, which would count again.
    await this.#save({ ...before, abandoned })
  }

  get #intentPath(): string {
    return join(this.#folder, 'intent.json')
  }

  get #settledPath(): string {
    return join(this.#folder, 'settled.json')
  }

  async #settled(): Promise<Settled> {
    return (await readJson(this.#settledPath, settledSchema)) ?? { abandoned: [] }
  }

  #save(settled: Settled): Promise<void> {
    return this.#files.replace(this.#settledPath, JSON.stringify(settled))
  }
}

export function isSame(one: BatchId, other: BatchId): boolean {
  return one.number === other.number && one.fingerprint === other.fingerprint
}

/** Reads one of the record's files; undefined when it is missing. @throws RecordDamaged */
async function readJson<T>(path: string, schema: z.ZodType<T>): Promise<T | undefined> {
  const text = await ifExists(readFile(path, 'utf8'))
  if (text === undefined) return undefined
  try {
    return schema.parse(JSON.parse(text))
  } catch (cause) {
    throw new RecordDamaged(`Reading ${path} failed: it is not what Rollcall wrote.`, { cause })
  }
}
