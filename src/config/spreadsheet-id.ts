import type { ParsedSetting } from './refusal.ts'

/**
 * Matches the URL of a spreadsheet in a browser: plain, with an account number, or with a domain.
 */
const spreadsheetUrl =
  /^(?:https?:\/\/)?docs\.google\.com\/(?:a\/[^/]+\/)?spreadsheets\/(?:u\/\d+\/)?d\/([^/?#]+)(?:[/?#].*)?$/i

/** Ids have 44 characters, but Google does not promise that. */
const spreadsheetId = /^[\w-]{20,100}$/

const expected =
  'the id of a spreadsheet, or its whole URL: https://docs.google.com/spreadsheets/d/<id>/edit'
const hint = 'Open the spreadsheet in a browser and copy the URL from the address bar.'

/** Parses the id or the URL of a spreadsheet and returns the id. */
export function parseSpreadsheetId(text: string): ParsedSetting<string> {
  const id = spreadsheetUrl.exec(text)?.[1] ?? text
  if (spreadsheetId.test(id)) return { value: id }
  return { problem: whatElse(text), expected, hint }
}

function whatElse(text: string): string {
  if (/\/spreadsheets\/(u\/\d+\/)?d\/e\//.test(text)) {
    return 'is the link of a published copy, which cannot be written to.'
  }
  if (/^https?:|\//.test(text)) return 'is a URL, but not one of a Google spreadsheet.'
  if (/^[\w-]*$/.test(text)) return 'is too short or too long for the id of a spreadsheet.'
  return 'has characters that the id of a spreadsheet cannot have.'
}
