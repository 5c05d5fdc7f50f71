import { constants, type Stats } from 'node:fs'
import { type FileHandle, lstat, open, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TabSignups } from '../../signup/batch.ts'
import { type Cell, headingsOf, type OwnColumn, toRow } from '../../signup/row.ts'
import { tabKey } from '../../signup/signup.ts'
import { ifExists } from '../../platform/node/durable-file.ts'
import { csvRecord } from '../csv.ts'
import { arrange, ourHeaderWith } from '../header.ts'
import { keyColumns } from '../row-key.ts'
import { naming } from './failure.ts'
import { fileName } from './file-name.ts'
import { headOf, readHeaderRow } from './header-row.ts'
import { type Counts, countRows, missingRows } from './own-rows.ts'
import type { Addition } from './record.ts'
import { textsOf } from './records.ts'
import { type Folder, replaceWhole } from './whole-file.ts'

/** The line end of RFC 4180. A file that has another line end or delimiter keeps it. */
const standardLineEnd = '\r\n'

/** A file with only a byte order mark and a line end counts as empty. */
const emptyBytesMax = 5

/** How much of a file's end is searched for rows of earlier batches: some 100 of one moment, or of any. */
const endBytes = { withTime: 16 * 1024, withoutTime: 4 * 1024 * 1024 }

/** How much of an addition is in its file. `torn`: a part of it is at the file's end. */
export type Standing =
  | { readonly kind: 'none' | 'torn' }
  | { readonly kind: 'whole'; readonly isLast: boolean }
  | Changed

/** A person has changed the file in the meantime. */
interface Changed {
  readonly kind: 'changed'
  readonly missing: Cell[][]
  /** How many rows of the file look like ours, of this batch or an earlier one. */
  readonly present: Counts
}

export async function planAddition(
  directory: string,
  tab: TabSignups,
  own: readonly OwnColumn[],
): Promise<Addition> {
  return planRows(directory, {
    tab: tab.tab,
    fileName: await tabFileName(directory, tab.tab),
    rows: tab.signups.map((signup) => [...toRow(signup, tab.tab, own)]),
    own: [...own],
    isRemainder: false,
  })
}

/** Plans how to add the missing rows to a file that a person has changed. */
export async function planRemainder(
  directory: string,
  { tab, fileName, rows, own, isRemainder }: Addition,
  { missing, present }: Changed,
): Promise<Addition> {
  const someAreThere = isRemainder || missing.length < rows.length
  const part = { tab, fileName, rows: missing, own, isRemainder: someAreThere }
  return { ...(await planRows(directory, part)), earlier: present }
}

/** Compares the file with the addition. Reads only the added part, unless a person changed the file. */
export async function standingOf(directory: string, addition: Addition): Promise<Standing> {
  return naming(directory, addition, () => compare(join(directory, addition.fileName), addition))
}

async function compare(path: string, addition: Addition): Promise<Standing> {
  const { sizeBefore, rows, own, earlier } = addition
  await using file = await ifExists(open(path, constants.O_RDONLY | constants.O_NOFOLLOW))
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
  const head = readHeaderRow(await headOf(file), own)
  const columns = head.header.kind === 'none' ? addition : { ...head, own }
  const present = await countRows(rows, columns, textsOf(file))
  const missing = missingRows(rows, columns, { now: present, before: earlier })
  return { kind: 'changed', missing, present }
}

/** Completes the addition, starting from `standing`. */
export async function finish(
  folder: Folder,
  addition: Addition,
  standing: Standing,
): Promise<void> {
  const { directory, files } = folder
  const path = join(directory, addition.fileName)
  const write = async () => {
    // Appending nothing still syncs the file, as a crash may have come before the sync.
    if (standing.kind === 'whole') return files.append(path, new Uint8Array())
    if (hasHeaderRow(addition)) return beginFile(folder, addition)
    if (standing.kind === 'torn') await files.truncate(path, addition.sizeBefore)
    await files.append(path, bytesOf(addition))
  }
  // A file that cannot be created is a problem of the folder, not of the tab.
  await (addition.creates ? write() : naming(directory, addition, write))
}

/** Whether the addition begins its file, which has nothing yet, or a byte order mark at most. */
function hasHeaderRow({ lead }: Addition): boolean {
  return lead.trim() !== ''
}

/**
 * Writes a file with its header row in one step. Half of a header row would be read as the header of a
 * person who wants fewer columns.
 */
async function beginFile(folder: Folder, addition: Addition): Promise<void> {
  const path = join(folder.directory, addition.fileName)
  const before = await ifExists(lstat(path))
  if ((before?.size ?? 0) !== addition.sizeBefore) {
    throw Object.assign(new Error(`${path} was changed just now.`), { code: 'EAGAIN' })
  }
  const start = before ? await readFile(path) : Buffer.alloc(0)
  await replaceWhole(folder, path, Buffer.concat([start, bytesOf(addition)]))
}

/** Whether the addition can be removed without losing a person's work. */
export function canUndo(addition: Addition, standing: Standing): boolean {
  if (addition.isRemainder) return false
  if (standing.kind === 'whole') return standing.isLast
  if (standing.kind === 'changed') return standing.missing.length === addition.rows.length
  return true
}

/** Removes what is in the file of the addition. Call it only when `canUndo` returns true. */
export async function undo(
  { directory, files }: Folder,
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
  part: Pick<Addition, 'tab' | 'fileName' | 'rows' | 'own' | 'isRemainder'>,
): Promise<Addition> {
  const path = join(directory, part.fileName)
  const stats = await ifExists(lstat(path))
  const look = stats && (await naming(directory, part, () => lookInto(path, stats, part)))
  const found = look ?? emptyFile(part.own)
  // Without rows, do not write the header row either.
  const lead = part.rows.length === 0 ? '' : found.lead
  return { ...part, ...found, creates: !look, lead }
}

type Look = Pick<Addition, 'sizeBefore' | 'header' | 'delimiter' | 'lineEnd' | 'lead' | 'earlier'>

function emptyFile(own: readonly OwnColumn[]): Look {
  return {
    sizeBefore: 0,
    header: { kind: 'ours', at: [...ourHeaderWith(own).at] },
    delimiter: ',',
    lineEnd: standardLineEnd,
    lead: csvRecord(headingsOf(own)) + standardLineEnd,
    earlier: {},
  }
}

async function lookInto(
  path: string,
  stats: Stats,
  { rows, own }: Pick<Addition, 'rows' | 'own'>,
): Promise<Look> {
  // Check first, because opening a pipe would wait for its other end.
  if (stats.isSymbolicLink()) throw notAFile('ELOOP', path)
  if (!stats.isFile()) throw notAFile('EISDIR', path)
  // Open for writing too, to notice a lock before anything is promised.
  await using file = await open(path, constants.O_RDWR | constants.O_NOFOLLOW)
  const { size } = await file.stat()
  const head = await headOf(file)
  if (size <= emptyBytesMax && /^(?:\xef\xbb\xbf)?[\r\n]*$/.test(head)) {
    return { ...emptyFile(own), sizeBefore: size }
  }
  const end = (await readAt(file, Math.max(0, size - 2), 2)).toString('latin1')
  const [lastLineEnd] = /\r?\n$|\r$/.exec(end) ?? []
  const [firstLineEnd = standardLineEnd] = /\r?\n/.exec(head) ?? []
  const { header, delimiter } = readHeaderRow(head, own)
  const { kind, at } = header
  const found = { sizeBefore: size, header: { kind, at: [...at] }, delimiter }
  const length = keyColumns(header).length > 1 ? endBytes.withTime : endBytes.withoutTime
  const start = Math.max(0, size - length)
  const [first = '', ...lines] = (await readAt(file, start, length)).toString().split(/[\r\n]+/)
  return {
    ...found,
    earlier: await countRows(rows, { ...found, own }, start > 0 ? lines : [first, ...lines]),
    lineEnd: lastLineEnd ?? firstLineEnd,
    lead: lastLineEnd === undefined ? firstLineEnd : '',
  }
}

/** The file of the tab: an existing one with its name in any case, or else the name for a new file. */
export async function tabFileName(directory: string, tab: string): Promise<string> {
  const wanted = fileName(tab)
  if (await ifExists(lstat(join(directory, wanted)))) return wanted
  const key = tabKey(wanted)
  const names = await readdir(directory)
  return names.filter((name) => tabKey(name) === key).sort()[0] ?? wanted
}

/** Whether the tail is the beginning of ours. After a power failure, bytes not yet on disk are zeros. */
function isTorn(tail: Buffer, ours: Buffer): boolean {
  let agreed = 0
  while (agreed < tail.length && tail[agreed] === ours[agreed]) agreed += 1
  return tail.subarray(agreed).every((byte) => byte === 0)
}

function bytesOf({ lead, rows, own, header, delimiter, lineEnd }: Addition): Buffer {
  const lines = rows.map((row) => csvRecord(arrange(row, header, own), delimiter) + lineEnd)
  return Buffer.from(lead + lines.join(''))
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position)
  return buffer.subarray(0, bytesRead)
}

function notAFile(code: string, path: string): Error {
  return Object.assign(new Error(`${path} is not a plain file.`), { code })
}
