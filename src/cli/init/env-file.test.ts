import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../../../harness/temp-folder.ts'
import { parseEnvFile } from '../../config/env/env-file.ts'
import type { Ask } from './ask.ts'
import { confirmChanges, writeEnvFile } from './env-file.ts'

const never = async () => expect.fail('nothing else is asked')

/** Answers each question with yes or no. Notes the questions. */
function answering(answer: boolean) {
  const questions: string[] = []
  const isSure: Ask['isSure'] = async (question) => {
    questions.push(question)
    return answer
  }
  return { questions, ask: { isSure, text: never, secret: never, choose: never } }
}

const file = parseEnvFile('SHEETS_PRIVATE_KEY="a secret"\nPORT=3000\n')

/** A new account in place of the one in the file, and another setting. */
const groups = [
  new Map([
    ['SHEETS_CREDENTIALS_EMAIL', 'robot@example.com'],
    ['SHEETS_PRIVATE_KEY', 'another secret'],
  ]),
  new Map([['ALLOWED_ORIGINS', '*']]),
]

test('after a yes, all settings of a group change, those too that the file did not have', async () => {
  const { ask, questions } = answering(true)
  const changes = await confirmChanges(groups, file, ask)
  expect([...changes.keys()]).toEqual([
    ...['SHEETS_CREDENTIALS_EMAIL', 'SHEETS_PRIVATE_KEY', 'ALLOWED_ORIGINS'],
  ])
  expect(questions).toHaveLength(1)
  expect(questions[0]).toContain('SHEETS_PRIVATE_KEY')
  expect(questions[0]).not.toContain('secret')
})

test('after a no, no setting of a group changes, and those of other groups do', async () => {
  const changes = await confirmChanges(groups, file, answering(false).ask)
  expect([...changes.keys()]).toEqual(['ALLOWED_ORIGINS'])
})

test('a file that somebody has changed since it was read is not written', async () => {
  await using folder = await tempFolder()
  const path = join(folder.path, '.env')
  const changes = new Map([['PORT', '3001']])
  for (const before of ['', 'PORT=3000\n']) {
    await writeFile(path, `${before}HOST=0.0.0.0\n`)
    await expect(writeEnvFile(path, before, changes)).rejects.toThrow('was changed meanwhile')
    expect(await readFile(path, 'utf8')).toBe(`${before}HOST=0.0.0.0\n`)
  }
})
