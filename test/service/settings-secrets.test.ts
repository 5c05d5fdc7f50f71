import { execFile } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

import { patienceMs } from '../../harness/patience.ts'
import { projectRoot } from '../../harness/source-file.ts'
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

/** Wrong ways to write the key into `.env`. */
const broken: Readonly<Record<string, string>> = {
  'a colon': `SHEETS_PRIVATE_KEY: "${oneLine}"`,
  'a colon, and a key that ends with =': `SHEETS_PRIVATE_KEY: ${base64}=`,
  'a space': `SHEETS_PRIVATE_KEY ${oneLine}`,
  'a space, on several lines': `SHEETS_PRIVATE_KEY "${pem}"`,
  'no name': pem,
  'base64 with no name': `${base64}==`,
  'several lines without quotes': `SHEETS_PRIVATE_KEY=${pem}`,
  'a quote that is not closed': `export SHEETS_PRIVATE_KEY="${pem}`,
  'a quote that another line closes': `SHEETS_PRIVATE_KEY='${pem}\nPAGE_TEXT='Hello'`,
  'the JSON between double quotes': `SHEETS_PRIVATE_KEY="${json}"`,
  'the JSON on several lines without quotes': `SHEETS_PRIVATE_KEY=${prettyJson}`,
  'the JSON alone': prettyJson,
  'a line of its own for the value': `SHEETS_PRIVATE_KEY=\n${base64}`,
  'the name run into the key': `SHEETS_PRIVATE_KEY${base64.slice(0, 40)}=${base64.slice(40)}`,
  'the name run into a short piece': `SHEETS_${base64.slice(0, 12)}=x`,
  'a name that begins like ours': `ROLLCALL_${base64.slice(0, 30)}=`.replace(/$/, 'x'),
  'another variable': `PORT=${base64.slice(0, 40)}\nLOG_LEVEL=${base64.slice(60, 80)}`,
  'the id of the spreadsheet': `SHEETS_SHEET_ID=${base64.slice(0, 44)}+`,
}

interface Ended {
  readonly code: unknown
  readonly output: string
}

/** Runs Node until it ends, with no settings of this machine. */
function run(args: string[], cwd: string, env: Record<string, string> = {}): Promise<Ended> {
  const options = { cwd, env: { PATH: process.env['PATH'] ?? '', ...env }, timeout: patienceMs }
  return new Promise((resolve) => {
    execFile(process.execPath, args, options, (error, stdout, stderr) => {
      resolve({ code: error?.code ?? 0, output: stdout + stderr })
    })
  })
}

const start = join(projectRoot, 'src/start.js')
const port = { HOST: '127.0.0.1', PORT: '0' }

describe('a key that is wrongly set stops the start, and no piece of it is printed', () => {
  test.each(['a colon', 'a space, on several lines', 'the JSON on several lines without quotes'])(
    'in .env, when the service itself starts: %s',
    async (way) => {
      await using temp = await tempFolder()
      await writeFile(join(temp.path, '.env'), id + (broken[way] ?? ''))
      const { code, output } = await run([start], temp.path, port)
      expect(code).toBe(2)
      expect(output).toMatch(/\.env: has .* in lines? \d/)
      expect(leaks(output)).toEqual([])
    },
  )

  test('in the environment, in the name of a variable', async () => {
    await using temp = await tempFolder()
    const { code, output } = await run([start], temp.path, {
      ...port,
      [`SHEETS_PRIVATE_KEY: "${oneLine}`]: '"',
      [`rollcall_${base64.slice(0, 40)}`]: 'x',
    })
    expect(code).toBe(2)
    expect(output).toContain('A variable of the environment that begins with SHEETS_')
    expect(leaks(output)).toEqual([])
  })
})
