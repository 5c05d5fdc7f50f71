import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Environment } from '../config.ts'
import { type EnvFile, parseEnvFile } from './env-file.ts'
import { ConfigError, type SettingProblem } from '../problem.ts'

const fileBytesMax = 1_048_576

/**
 * The environment of a process and the `.env` file of the working directory, or of ROLLCALL_FOLDER for
 * a command that was called elsewhere. A variable of the process wins, even an empty one: `PORT= npm start`
 * drops the port of `.env`. Throws a ConfigError when the file exists but cannot be read, or the folder does not.
 */
export function readEnvironment(env = process.env): Environment {
  const { ROLLCALL_FOLDER = '', ...ofProcess } = env
  // Without a name it is the working directory.
  const folder = resolve(ROLLCALL_FOLDER)
  if (!existsSync(`${folder}/`)) throw new ConfigError([noFolder(folder)])
  const path = join(folder, '.env')
  const envFile = readEnvFile(path)
  const variables = { ...envFile?.variables, ...ofProcess }
  return { variables, envFile, isEnvFileOpen: isOpenToAll(path), folder, readText }
}

/** Without this, a misspelt folder would be made, and the service start there without its settings. */
function noFolder(path: string): SettingProblem {
  return {
    setting: 'ROLLCALL_FOLDER',
    problem: 'names no folder.',
    given: path,
    expected: 'the folder that has the file .env',
    hint: 'Correct its spelling, make the folder, or let the user that runs Rollcall into it.',
  }
}

/** Whether every user may read the file. Windows has no such modes. */
function isOpenToAll(path: string): boolean {
  if (process.platform === 'win32') return false
  return ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o004) !== 0
}

/** Reads one byte more than it may, as a device or a pipe does not tell its size. */
function readText(path: string): string {
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(fileBytesMax + 1)
    let length = 0
    for (let read = -1; read !== 0 && length < bytes.length; length += read) {
      read = readSync(file, bytes, length, bytes.length - length, null)
    }
    if (length > fileBytesMax) throw Object.assign(new Error('too large'), { code: 'EFBIG' })
    return bytes.toString('utf8', 0, length)
  } finally {
    closeSync(file)
  }
}

function readEnvFile(path: string): EnvFile | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path))
    if (text.includes('\0')) throw new TypeError('NUL bytes: probably UTF-16')
    return parseEnvFile(text)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (code === 'ENOENT') return undefined
    const isText = code !== 'ERR_ENCODING_INVALID_ENCODED_DATA' && code !== ''
    const problem = {
      setting: '.env',
      problem: isText ? `cannot be read (${code}).` : 'is not text in UTF-8.',
      given: path,
      expected: 'a text file in UTF-8 with lines of the form NAME=value, or no such file',
      hint: 'Check that it is a file that the user who runs Rollcall may read. Windows PowerShell writes UTF-16 by default.',
    }
    throw new ConfigError([problem], { cause: error })
  }
}
