import { isIP } from 'node:net'
import { limits } from '../signup/limits.ts'
import { tabProblem } from '../signup/tab.ts'
import { hasUnprintable } from '../signup/text.ts'
import type { ParsedSetting, Parser } from './problem.ts'

/** The log levels of pino. */
const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/** Makes a parser for a whole number from `min` to `max`, in digits only. */
export function wholeNumber(min: number, max: number): Parser<number> {
  const range = `from ${thousands(min)} to ${thousands(max)}`
  return (text, example) => {
    const value = Number(text)
    const hasDigitsOnly = /^\d+$/.test(text)
    if (hasDigitsOnly && value >= min && value <= max) return { value }
    const isNumber = /^[+-]?\d+(\.\d+)?$/.test(text)
    return {
      problem: isNumber ? 'is out of range.' : 'is not a whole number.',
      expected: `a whole number ${range}`,
      hint: hasDigitsOnly
        ? `Choose one ${range}, such as ${example}.`
        : `Write it with digits only, such as ${example}: no unit, sign, comma or dot.`,
    }
  }
}

/** Parses 0 or a number of days. One day is too short: a repeated request is answered for 25 hours. */
export function retentionDays(text: string, example: string): ParsedSetting<number> {
  const parsed = wholeNumber(0, 36_500)(text, example)
  if (!('value' in parsed) || parsed.value !== 1) return parsed
  return {
    problem: 'is too short: retries are answered for more than a day.',
    expected: '0 to keep everything, or a whole number from 2 to 36,500',
    hint: 'Set 2 or more, or 0 to keep everything.',
  }
}

/** Parses an http(s) URL and returns it without a slash at the end. */
export function httpUrl(text: string, example: string): ParsedSetting<string> {
  const expected =
    'a URL that begins with https:// (or http://), without query, fragment or password'
  const url = URL.parse(text)
  if (!url || !/^https?:\/\//i.test(text)) {
    return {
      problem: 'is not an http(s) URL.',
      expected,
      hint: `Write it in full, such as ${example}, or remove it for the default.`,
    }
  }
  if (url.username !== '' || url.password !== '') {
    return {
      problem: 'has a user name or a password in it.',
      expected,
      hint: 'Remove the part before the @, which Rollcall does not use.',
    }
  }
  if (/[?#]/.test(text)) {
    return {
      problem: 'has a query or a fragment.',
      expected,
      hint: 'Remove the first ? or # and everything after it.',
    }
  }
  return { value: url.href.replace(/\/+$/, '') }
}

/** Parses an IP address or a host name to listen on. */
export function listenHost(text: string): ParsedSetting<string> {
  const bare = text.replace(/^\[(.*)\]$/, '$1')
  const isName = /^(?!-)[a-z0-9-]+(\.[a-z0-9-]+)*$/i.test(bare) && !/^[\d.]+$/.test(bare)
  if (isIP(bare) !== 0 || isName) return { value: bare }
  return {
    problem: 'is neither an IP address nor a host name.',
    expected: 'an address of this machine, such as 0.0.0.0, 127.0.0.1, :: or localhost',
    hint: 'Leave out http:// and the port; the port goes into PORT.',
  }
}

/** Parses the name of a tab, by the rules for signups. */
export function tabName(text: string): ParsedSetting<string> {
  const problem = tabProblem(text)
  if (problem === undefined) return { value: text }
  return {
    problem,
    expected: `the name of a tab: 1 to ${limits.tabCharactersMax} characters in one line`,
    hint: 'Copy the name from the tab at the bottom of the spreadsheet.',
  }
}

export function logLevel(text: string): ParsedSetting<LogLevel> {
  const value = logLevels.find((level) => level === text.toLowerCase())
  if (value) return { value }
  return {
    problem: 'is not a log level.',
    expected: `one of ${logLevels.join(', ')}`,
    hint: 'Use info for normal operation, or debug to find the cause of a problem.',
  }
}

export type LogFormat = 'text' | 'json'

export function logFormat(text: string): ParsedSetting<LogFormat> {
  const value = text.toLowerCase()
  if (value === 'text' || value === 'json') return { value }
  return {
    problem: 'is neither text nor json.',
    expected: 'text or json',
    hint: 'Use text for people or json for programs, or remove it: a terminal gets text then.',
  }
}

/** Parses what to do with a second signup for the same address. */
export function duplicates(text: string): ParsedSetting<'append' | 'ignore'> {
  const value = text.toLowerCase()
  if (value === 'append' || value === 'ignore') return { value }
  return {
    problem: 'is neither append nor ignore.',
    expected: 'append or ignore',
    hint: 'Use append for a row for every signup, or ignore for one row for each address in a tab.',
  }
}

/** Parses the path of a file or a folder. Returns it unchanged. */
export function filePath(text: string): ParsedSetting<string> {
  const expected = 'a path, absolute or from the working directory'
  if (text.startsWith('{') || text.includes('-----BEGIN')) {
    return {
      problem: 'holds a key instead of the path of a file.',
      expected,
      hint: 'Put the key into SHEETS_PRIVATE_KEY, or save it in a file and give its path here.',
    }
  }
  if (hasUnprintable(text)) {
    return {
      problem: 'has line breaks or other control characters in it.',
      expected,
      hint: 'Write the path on one line; in .env write Windows paths with / or without quotes.',
    }
  }
  if (text.startsWith('~')) {
    return {
      problem: 'begins with ~, which only a shell understands.',
      expected,
      hint: 'Write the path of the home folder in full.',
    }
  }
  return { value: text }
}

/** Parses the address of a service account. */
export function emailAddress(text: string): ParsedSetting<string> {
  const isAddress =
    /^[^\s@<>"',;]+@[a-z0-9-]+(\.[a-z0-9-]+)+$/i.test(text) &&
    text.length <= limits.emailCharactersMax
  const isPersonal = /@(gmail|googlemail)\.com$/i.test(text)
  if (isAddress && !isPersonal) return { value: text }
  return {
    problem: isPersonal ? 'is the address of a person.' : 'is not an email address.',
    expected:
      'the address of a service account, such as rollcall@my-project.iam.gserviceaccount.com',
    hint: 'Copy client_email from the JSON key file.',
  }
}

function thousands(value: number): string {
  return value.toLocaleString('en-US')
}
