import { constants } from 'node:fs'
import type { Stats } from 'node:fs'
import { lstat, open, readdir } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import type { TabSignups } from '../../signup/batch.ts'
import { columns, toRow } from '../../signup/row.ts'
import { tabKey } from '../../signup/signup.ts'
import { codeOf } from '../../platform/node/durable-file.ts'
import type { DurableFiles } from '../../platform/node/durable-file.ts'
import { csvRecord } from './csv.ts'
import { arrange, ourHeader } from '../header.ts'
import { naming } from './failure.ts'
import { fileName } from './file-name.ts'
import { readHeaderRow } from './header-row.ts'
import { countEarlierRows } from './earlier-rows.ts'
import { type Counts, countRows, missingRows } from './missing-rows.ts'
import type { Addition } from './record.ts'

/** As RFC 4180 has it. A file that was saved with another one, or another delimiter, keeps that. */
const standardLineEnd = '\r\n'

/** A file of at most a byte order mark and a line end counts as empty. */
const emptyBytesMax = 5

/** How far to look for the header row and the first line end. */
const headBytesMax = 4096

/** What there is of an addition in its file. */
export type Standing =
  /** Nothing, and the file is as it was. */
  | { readonly kind: 'none' }
  /** A part of it, at the file's end. */
  | { readonly kind: 'torn' }
  /** All of it. */
  | { readonly kind: 'whole'; readonly isLast: boolean }
  | Changed

/** A person has changed the file since. */
interface Changed {
  readonly kind: 'changed'
  /** Those of our rows that are not in it. */
  readonly missing: string[][]
  /** The rows in it that could be taken for ours, be they of this batch or an earlier one. */
  readonly present: Counts
}

/** What it takes to add these signups below what the tab's file holds. */
export async function planAddition(directory: string, tab: TabSignups): Promise<Addition> {
  return planRows(directory, {
    tab: tab.tab,
    fileName: await locate(directory, tab.tab),
    rows: tab.signups.map((signup) => [...toRow(signup, tab.tab)]),
    isRemainder: false,
  })
}

/** What it takes to add the rows that are missing in a file that a person has changed. */
export async function planRemainder(
  directory: string,
  { tab, fileName, rows, isRemainder, header }: Addition,
  { missing, present }: Changed,
): Promise<Addition> {
  const someAreThere = isRemainder || missing.length < rows.length
  const part = { tab, fileName, rows: missing, isRemainder: someAreThere }
  const plan = await planRows(directory, part)
  // The crash may have cut our header row short: then its columns are those that it was to have.
  const isWhole = header.kind !== 'ours' || !plan.header.at.includes(-1)
  return { ...plan, header: isWhole ? plan.header : header, earlier: present }
}

/** Compares the file with the addition. Reads no more than was to be added, unless it was changed. */
export async function standingOf(directory: string, addition: Addition): Promise<Standing> {
  return naming(directory, addition, () => compare(join(directory, addition.fileName), addition))
}

async function compare(path: string, addition: Addition): Promise<Standing> {
  const { sizeBefore, rows, earlier } = addition
  await using file = await ifExists(openFile(path, constants.O_RDONLY))
  if (!file && sizeBefore === 0) return { kind: 'none' }
  if (!file) return { kind: 'changed', missing: rows, present: {} }

  const { size } = await file.stat()
  if (size === sizeBefore) return { kind: 'none' }
  if (size > sizeBefore) {
    const ours = bytesOf(addition)
    const tail = await readAt(file, sizeBefore, Math.min(ours.length, size - sizeBefore))
    if (tail.equals(ours)) return { kind: 'whole', isLast: size === sizeBefore + ours.length }
    if (size <= sizeBefore + ours.length && isTorn(tail, ours)) return { kind: 'torn' }
  }
  const now = readHeaderRow(await readText(file, 0, headBytesMax))
  const isKnown = addition.header.kind !== 'named' || now.header.kind === 'none'
  const headerRow = isKnown ? addition : now
  const present = await countRows(rows, file.readLines({ start: 0, autoClose: false }), headerRow)
  return { kind: 'changed', missing: missingRows(rows, present, earlier, headerRow), present }
}

/** Brings the file from `standing` to the whole addition. */
export async function finish(
  files: DurableFiles,
  directory: string,
  addition: Addition,
  standing: Standing,
): Promise<void> {
  const path = join(directory, addition.fileName)
  // Appending nothing to a whole one still syncs it: the crash may have come before the sync.
  const bytes = standing.kind === 'whole' ? new Uint8Array() : bytesOf(addition)
  const append = async () => {
    if (standing.kind === 'torn') await files.truncate(path, addition.sizeBefore)
    await files.append(path, bytes)
  }
  // A file that cannot be created says something about the folder, not about the tab.
  await (addition.creates ? append() : naming(directory, addition, append))
}

/** Whether the file can be brought back to what it was, with nothing of a person's work lost. */
export function canUndo(addition: Addition, standing: Standing): boolean {
  if (addition.isRemainder) return false
  if (standing.kind === 'whole') return standing.isLast
  if (standing.kind === 'changed') return standing.missing.length === addition.rows.length
  return true
}

/** Takes out what there is of the addition. Only where `canUndo` said so. */
export async function undo(
  files: DurableFiles,
  directory: string,
  addition: Addition,
  standing: Standing,
): Promise<void> {
  if (standing.kind === 'changed') return
  const path = join(directory, addition.fileName)
  if (addition.creates) await files.remove(path)
  else if (standing.kind !== 'none') await files.truncate(path, addition.sizeBefore)
}

async function planRows(
  directory: string,
  part: Pick<Addition, 'tab' | 'fileName' | 'rows' | 'isRemainder'>,
): Promise<Addition> {
  const path = join(directory, part.fileName)
  const stats = await statIfExists(path)
  const look = stats && (await naming(directory, part, () => lookInto(path, stats, part.rows)))
  const found = look ?? emptyFile
  // Not even the header row, when there is nothing to put below it.
  const lead = part.rows.length === 0 ? '' : found.lead
  return { ...part, ...found, creates: !look, lead }
}

type Look = Pick<Addition, 'sizeBefore' | 'header' | 'delimiter' | 'lineEnd' | 'lead' | 'earlier'>

const emptyFile: Look = {
  sizeBefore: 0,
  header: { ...ourHeader, at: [...ourHeader.at] },
  delimiter: ',',
  lineEnd: standardLineEnd,
  lead: csvRecord(columns) + standardLineEnd,
  earlier: {},
}

async function lookInto(path: string, stats: Stats, rows: readonly string[][]): Promise<Look> {
  // Opening a pipe would wait for its other end; so look before.
  if (stats.isSymbolicLink()) throw notAFile('ELOOP', path)
  if (!stats.isFile()) throw notAFile('EISDIR', path)
  // Opened for writing too, to learn of a lock before anything is promised.
  await using file = await openFile(path, constants.O_RDWR)
  const { size } = await file.stat()
  const head = await readText(file, 0, headBytesMax)
  if (size <= emptyBytesMax && /^(?:\xef\xbb\xbf)?[\r\n]*$/.test(head)) {
    return { ...emptyFile, sizeBefore: size }
  }
  const end = await readText(file, Math.max(0, size - 2), 2)
  const [lastLineEnd] = /\r?\n$|\r$/.exec(end) ?? []
  const [firstLineEnd = standardLineEnd] = /\r?\n/.exec(head) ?? []
  const { header, delimiter } = readHeaderRow(head)
  const found = { sizeBefore: size, header: { ...header, at: [...header.at] }, delimiter }
  return {
    ...found,
    lineEnd: lastLineEnd ?? firstLineEnd,
    lead: lastLineEnd === undefined ? firstLineEnd : '',
    earlier: await countEarlierRows(rows, found, (from, length) => readAt(file, from, length)),
  }
}

/** The file of the tab: one that exists under its name, case aside, or else the name for a new one. */
async function locate(directory: string, tab: string): Promise<string> {
  const wanted = fileName(tab)
  if (await statIfExists(join(directory, wanted))) return wanted
  const key = tabKey(wanted)
  const names = await readdir(directory)
  return names.filter((name) => tabKey(name) === key).sort()[0] ?? wanted
}

/** A beginning of ours. After a power failure the bytes that never reached the disk read as zeros. */
function isTorn(tail: Buffer, ours: Buffer): boolean {
  let agreed = 0
  while (agreed < tail.length && tail[agreed] === ours[agreed]) agreed += 1
  return tail.subarray(agreed).every((byte) => byte === 0)
}

function bytesOf({ lead, rows, header, delimiter, lineEnd }: Addition): Buffer {
  const lines = rows.map((row) => csvRecord(arrange(row, header), delimiter) + lineEnd)
  return Buffer.from(lead + lines.join(''))
}

/** One character for each byte: enough to find line ends. */
async function readText(file: FileHandle, position: number, length: number): Promise<string> {
  return (await readAt(file, position, length)).toString('latin1')
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position)
  return buffer.subarray(0, bytesRead)
}

async function openFile(path: string, flags: number): Promise<FileHandle> {
  return open(path, flags | constants.O_NOFOLLOW)
}

async function statIfExists(path: string): Promise<Stats | undefined> {
  return ifExists(lstat(path))
}

async function ifExists<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

function notAFile(code: string, path: string): Error {
  return Object.assign(new Error(`${path} is not a plain file.`), { code })
}
