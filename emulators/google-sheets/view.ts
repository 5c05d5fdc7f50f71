import type { Answer } from './answer.ts'
import type { EmulatedGoogle } from './emulator.ts'
import { escapeHtml } from './html.ts'
import type { SpreadsheetHandle } from './spreadsheet-handle.ts'

const rowsShownMax = 200
const callsShownMax = 20

/** Pages for a person who watches: all spreadsheets, or the tabs of one. Nothing can be changed. */
export function answerView(google: EmulatedGoogle, path: string): Answer | undefined {
  if (path === '/') return page('Google Sheets emulator', overview(google))
  const id = /^\/spreadsheets\/([^/]+)$/.exec(path)?.[1]
  if (id === undefined || !google.model.spreadsheets.has(id)) return undefined
  const spreadsheet = google.spreadsheet(id)
  return page(spreadsheet.title, counters(google) + tabs(spreadsheet) + markers(spreadsheet))
}

function overview(google: EmulatedGoogle): string {
  const items = [...google.model.spreadsheets.keys()].map((id) => {
    const spreadsheet = google.spreadsheet(id)
    const names = spreadsheet
      .titles()
      .map((title) => `${escapeHtml(title)} (${spreadsheet.rowCount(title)} rows)`)
    const link = `<a href="/spreadsheets/${encodeURIComponent(id)}">${escapeHtml(spreadsheet.title)}</a>`
    return `<li>${link}: ${names.join(', ')}</li>`
  })
  return `${counters(google)}<h2>Spreadsheets</h2><ul>${items.join('')}</ul>${calls(google)}`
}

function counters(google: EmulatedGoogle): string {
  const { reads, writes, tokens } = google.counters
  const faults = google.faults.pending.length
  return `<p>Calls: ${reads} reads, ${writes} writes, ${tokens} for tokens. Faults to come: ${faults}.</p>`
}

function calls(google: EmulatedGoogle): string {
  const rows = google.log
    .calls()
    .slice(-callsShownMax)
    .toReversed()
    .map(({ time, kind, status, applied, rows: count, requests, fault }) => [
      time,
      kind,
      String(status),
      applied,
      count > 0 ? String(count) : '',
      requests.map((request) => [request.kind, request.id].filter(Boolean).join(' ')).join(', '),
      fault ?? '',
    ])
  const head = ['Time', 'Call', 'Status', 'Applied', 'Rows', 'Requests', 'Fault']
  return `<h2>Last calls</h2>${table([head, ...rows])}`
}

function tabs(spreadsheet: SpreadsheetHandle): string {
  return spreadsheet
    .titles()
    .map((title) => {
      const count = spreadsheet.rowCount(title)
      const first = Math.max(0, count - rowsShownMax)
      const shown = spreadsheet
        .rows(title, first)
        .map((row, index) => [String(first + index + 1), ...row])
      const note = first > 0 ? `, the last ${rowsShownMax} shown` : ''
      return `<h2>${escapeHtml(title)}</h2><p>${count} rows${note}</p>${table(shown)}`
    })
    .join('')
}

function markers(spreadsheet: SpreadsheetHandle): string {
  const rows = spreadsheet
    .metadata()
    .map(({ metadataId, metadataKey, metadataValue, location }) => [
      String(metadataId ?? ''),
      metadataKey ?? '',
      metadataValue ?? '',
      location?.locationType ?? '',
    ])
  const head = ['Id', 'Key', 'Value', 'Location']
  return `<h2>Developer metadata</h2>${table([head, ...rows])}`
}

function table(rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `<tr>${cells.map((cell) => `<td>${escapeHtml(cell)}</td>`).join('')}</tr>`
  return `<table>${rows.map(line).join('')}</table>`
}

const style = `
  body { font: 14px/1.4 system-ui, sans-serif; margin: 2rem; color: #202124; }
  table { border-collapse: collapse; } tr:first-child { font-weight: 600; }
  td { border: 1px solid #dadce0; padding: 2px 8px; white-space: pre-wrap; max-width: 40em; }
  td:first-child { color: #5f6368; }`

/** Only the body is exchanged, so that the place where one reads is kept. */
const script = `
  setInterval(async () => {
    const response = await fetch(location.href).catch(() => undefined)
    if (!response?.ok) return
    const next = new DOMParser().parseFromString(await response.text(), 'text/html')
    document.querySelector('main').replaceWith(next.querySelector('main'))
  }, 1000)`

function page(title: string, main: string): Answer {
  const name = escapeHtml(title)
  return {
    status: 200,
    headers: { 'Content-Type': 'text/html; charset=UTF-8', 'Cache-Control': 'no-store' },
    body: `<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>${name}</title>
<style>${style}</style>
<main><h1>${name}</h1>${main}</main>
<script>${script}</script>
</html>
`,
  }
}
