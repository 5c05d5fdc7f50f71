import type { Answer } from './answer.ts'
import type { EmulatedGoogle } from './emulator.ts'
import { escapeHtml } from './html.ts'
import type { SpreadsheetHandle } from './spreadsheet-handle.ts'

const rowsShownMax = 200
const callsShownMax = 20

/** The page `/spreadsheets/{id}`: the tabs and the last calls, for a person who watches. */
export function answerView(google: EmulatedGoogle, path: string): Answer | undefined {
  const id = /^\/spreadsheets\/([^/]+)$/.exec(path)?.[1]
  if (id === undefined || !google.model.spreadsheets.has(id)) return undefined
  const spreadsheet = google.spreadsheet(id)
  return page(spreadsheet.title, tabs(spreadsheet) + calls(google))
}

function tabs(spreadsheet: SpreadsheetHandle): string {
  return spreadsheet
    .titles()
    .map((title) => {
      const count = spreadsheet.rowCount(title)
      const first = Math.max(0, count - rowsShownMax)
      const rows = spreadsheet.rows(title)
      const cells = spreadsheet.cells(title)
      const shown = rows.flatMap((row, index) => {
        // The header row is always among them.
        if (index > 0 && index < first) return []
        const told = row.map((text, column) => {
          const { numberValue, boolValue } = cells[index]?.[column]?.userEnteredValue ?? {}
          return { text, kind: numberValue == null ? (boolValue == null ? '' : 'tick') : 'number' }
        })
        return [[String(index + 1), ...told]]
      })
      const note = first > 0 ? `, the last ${rowsShownMax} shown` : ''
      return `<h2>${escapeHtml(title)}</h2><p>${count} rows${note}</p>${table(shown)}`
    })
    .join('')
}

function calls({ log, faults }: EmulatedGoogle): string {
  const { reads, writes, tokens } = log.counters
  const rows = log
    .calls()
    .slice(-callsShownMax)
    .toReversed()
    .map(({ time, kind, status, applied, rows: count, fault }) => [
      ...[time, kind, String(status), applied, String(count || ''), fault ?? ''],
    ])
  const head = ['Time', 'Call', 'Status', 'Applied', 'Rows', 'Fault']
  return `<h2>Last calls</h2>
<p>${reads} reads, ${writes} writes, ${tokens} for tokens. Faults to come: ${faults.pending.length}.</p>
${table([head, ...rows])}`
}

/** A cell, and the class of its kind. */
type Shown = string | { readonly text: string; readonly kind: string }

function table(rows: readonly (readonly Shown[])[]): string {
  const cell = (shown: Shown) => {
    const { text, kind } = typeof shown === 'string' ? { text: shown, kind: '' } : shown
    const words = kind === 'tick' ? (text === 'TRUE' ? '☑' : '☐') : escapeHtml(text)
    return `<td${kind && ` class="${kind}"`}>${words}</td>`
  }
  const line = (cells: readonly Shown[]) => `<tr>${cells.map(cell).join('')}</tr>`
  return `<table>${rows.map(line).join('')}</table>`
}

const style = `
  :root { color-scheme: light dark; }
  body { background: Canvas; color: CanvasText; font: 14px/1.4 system-ui, sans-serif; margin: 2rem; }
  table { border-collapse: collapse; }
  tr:first-child td { font-weight: 600; position: sticky; top: 0; background: Canvas; }
  td { border: 1px solid #8886; padding: 2px 8px; white-space: pre-wrap; max-width: 40em; }
  td:first-child { color: color-mix(in srgb, CanvasText 72%, Canvas); } .number { text-align: right; } .tick { text-align: center; }`

/** Replaces only the content, so that the page does not scroll. */
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
