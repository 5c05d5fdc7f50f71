import { download } from '../http/answer.ts'
import { csvFormat, exportedPages } from '../operations/export.ts'
import type { AdminRoute, AdminSite } from './visit.ts'

/** Fewer than the command reads at once: requests of visitors come between two pages. */
const pageRows = 250

/** The list of a site as a file, as `rollcall export` writes it. */
export const exportRoute: AdminRoute = {
  path: '/export',
  isFile: true,
  GET: async ({ site }) =>
    download(`signups-${site.name}.csv`, 'text/csv; charset=utf-8', listOf(site)),
}

async function* listOf({ journal, columns }: AdminSite): AsyncGenerator<string> {
  const { head, lines } = csvFormat(columns)
  yield head
  for await (const { rows } of exportedPages(journal.reader, pageRows)) yield lines(rows)
}
