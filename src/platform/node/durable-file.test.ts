import {
  chown,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { codeOf, durableFiles, giveName, replaceNow } from './durable-file.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rollcall-durable-'))
})

afterEach(() => rm(folder, { recursive: true }))

const text = (path: string) => readFile(path, 'utf8')

async function* pieces() {
  yield Buffer.from('in ')
  yield Buffer.from('pieces')
}

describe('durable files', () => {
  test('a directory is made with its parents, and making it again does nothing', async () => {
    const path = join(folder, 'a', 'b', 'c')
    await durableFiles.ensureDirectory(path)
    await durableFiles.ensureDirectory(path)
    expect(await readdir(path)).toEqual([])
  })

  test('replacing makes a file or changes its content, and leaves no other file', async () => {
    const path = join(folder, 'file')
    await durableFiles.replace(path, 'first, longer')
    await durableFiles.replace(path, 'second')
    expect(await text(path)).toBe('second')
    expect(await readdir(folder)).toEqual(['file'])
  })

  test.runIf(process.getuid?.() === 0)(
    'root leaves a file that it replaces to its owner',
    async () => {
      const path = join(folder, 'file')
      await durableFiles.replace(path, 'old')
      expect(await stat(path)).toMatchObject({ uid: 0, gid: 0 })
      await chown(path, 65534, 65533)
      await durableFiles.replace(path, 'new')
      expect(await stat(path)).toMatchObject({ uid: 65534, gid: 65533 })
      expect(await text(path)).toBe('new')
    },
  )

  test('a replacement that fails keeps the old content and leaves no temporary file', async () => {
    const path = join(folder, 'taken')
    await mkdir(join(path, 'full'), { recursive: true })
    await expect(durableFiles.replace(path, 'content')).rejects.toThrow()
    expect(await readdir(folder)).toEqual(['taken'])
    expect(await readdir(path)).toEqual(['full'])
  })

  test('a replacement is asked about when all of its content is on the disk, and a no leaves the old one', async () => {
    const [path, temporary] = [join(folder, 'file'), join(folder, 'other')]
    await durableFiles.replace(path, 'old')
    const seen: string[] = []
    const replace = (may: boolean) =>
      durableFiles.replace(path, pieces(), {
        temporary,
        async mayReplace() {
          seen.push(await readFile(path, 'utf8'), await readFile(temporary, 'utf8'))
          return may
        },
      })
    await replace(false)
    expect(await readFile(path, 'utf8')).toBe('old')
    await replace(true)
    expect(await readFile(path, 'utf8')).toBe('in pieces')
    expect(seen).toEqual(['old', 'in pieces', 'old', 'in pieces'])
    expect(await readdir(folder)).toEqual(['file'])
  })

  test('a replacement works when a crash has left a temporary file', async () => {
    const path = join(folder, 'file')
    await writeFile(`${path}.tmp`, 'much longer than the new content', { mode: 0o644 })
    await durableFiles.replace(path, 'new')
    expect(await text(path)).toBe('new')
    if (process.platform !== 'win32') expect((await stat(path)).mode & 0o777).toBe(0o600)
  })

  test('appending makes a file or adds at its end; truncating cuts it; removing it twice does no harm', async () => {
    const path = join(folder, 'file')
    await durableFiles.append(path, Buffer.from('one'))
    await durableFiles.append(path, Buffer.from('two'))
    expect(await text(path)).toBe('onetwo')
    await durableFiles.truncate(path, 4)
    expect(await text(path)).toBe('onet')
    await durableFiles.remove(path)
    await durableFiles.remove(path)
    expect(await readdir(folder)).toEqual([])
  })

  test('a symbolic link is refused', async () => {
    const target = join(folder, 'target')
    const link = join(folder, 'link')
    await writeFile(target, 'precious')
    await symlink(target, link)
    const failures = [durableFiles.append(link, Buffer.from('x')), durableFiles.truncate(link, 0)]
    for (const { reason } of (await Promise.allSettled(failures)) as PromiseRejectedResult[]) {
      expect(codeOf(reason)).toBe('ELOOP')
    }
    await durableFiles.replace(link, 'new')
    expect(await text(target)).toBe('precious')
    expect(await text(link)).toBe('new')
  })
})

test('a file gets no name that a file or a link has, and leaves that one as it is', async () => {
  const [made, kept] = [join(folder, 'made'), join(folder, 'kept')]
  await writeFile(made, 'new')
  await writeFile(kept, 'old')
  await symlink(join(folder, 'nowhere'), join(folder, 'link'))
  for (const name of ['kept', 'link']) {
    const error: unknown = await giveName(made, join(folder, name)).catch((it: unknown) => it)
    expect(codeOf(error)).toBe('EEXIST')
  }
  expect(await text(kept)).toBe('old')
  await giveName(made, join(folder, 'named'))
  expect(await text(join(folder, 'named'))).toBe('new')
  expect(await readdir(folder)).toEqual(['kept', 'link', 'named'])
})

test('a small file that is there at once can be read by its owner only', async () => {
  const path = join(folder, 'secret')
  replaceNow(path, 'first')
  replaceNow(path, 'second')
  expect(await text(path)).toBe('second')
  expect((await stat(path)).mode & 0o777).toBe(0o600)
})

test('a file that was replaced keeps its new name after a crash', async () => {
  const synced: string[] = []
  const files = {
    ...durableFiles,
    async syncDirectory(path: string) {
      synced.push(path, await text(join(folder, 'file')))
    },
  }
  await files.replace(join(folder, 'file'), 'new')
  expect(synced).toEqual([folder, 'new'])
})
