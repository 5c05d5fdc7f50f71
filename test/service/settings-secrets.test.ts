import { generateKeyPairSync } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

import { runCommand } from '../../harness/run-command.ts'
import { tempFolder } from '../../harness/temp-folder.ts'

const pem = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
  type: 'pkcs8',
  format: 'pem',
})
const oneLine = pem.replaceAll('\n', '\\n')
const base64 = Buffer.from(pem).toString('base64')
const email = 'rollcall@my-project.iam.gserviceaccount.com'
const json = JSON.stringify({ type: 'service_account', client_email: email, private_key: pem })
const prettyJson = JSON.stringify(JSON.parse(json), null, 2)
const secrets = [pem.replace(/-----.*-----|\n/g, ''), base64, Buffer.from(json).toString('base64')]

const piecesOf = (secret: string) =>
  Array.from({ length: secret.length - 11 }, (_, start) => secret.slice(start, start + 12))
const pieces = new Set(secrets.flatMap(piecesOf))

/** The pieces of a key in a text, even when line breaks or escapes split them. */
function leaks(text: string): readonly string[] {
  const unbroken = text.replace(/\\+n|\s/g, '')
  return [...piecesOf(text), ...piecesOf(unbroken)].filter((piece) => pieces.has(piece))
}

const id = 'SHEETS_SHEET_ID=1AbCdEfGhIjKlMnOpQrStUvWxYz0123456789-_AbCdE\n'

const port = { HOST: '127.0.0.1', PORT: '0' }

describe('no piece of a key that is wrongly set is printed', () => {
  test.each([
    ['a colon', `SHEETS_PRIVATE_KEY: "${oneLine}"`],
    ['a space, on several lines', `SHEETS_PRIVATE_KEY "${pem}"`],
    ['the JSON on several lines without quotes', `SHEETS_PRIVATE_KEY=${prettyJson}`],
  ])('in .env, when the service itself starts: %s', async (_, wrong) => {
    await using temp = await tempFolder()
    await writeFile(join(temp.path, '.env'), id + wrong)
    const { code, stderr } = await runCommand(['serve'], { folder: temp.path, env: port })
    expect(code).toBe(2)
    expect(stderr).toMatch(/\.env: has .* in lines? \d/)
    expect(leaks(stderr)).toEqual([])
  })

  test('in the environment, in the name of a variable, beside another problem', async () => {
    const names = [`SHEETS_PRIVATE_KEY: "${oneLine}`, `rollcall_${base64.slice(0, 40)}`]
    const env = { PORT: 'x', ...Object.fromEntries(names.map((name) => [name, '"'])) }
    const { code, stderr } = await runCommand(['serve'], { env })
    expect(code).toBe(2)
    expect(stderr).toContain('A variable of the environment that begins with SHEETS_')
    expect(leaks(stderr)).toEqual([])
  })
})
