/** `npm run graph`: draws the imports between the rooms of `src/` into docs/architecture.svg. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Graphviz } from '@hpcc-js/wasm-graphviz'
import { cruise } from 'dependency-cruiser'
import rules from '../.dependency-cruiser.js'

/** Nearly every room imports these, so that their arrows would hide the others. */
const left = '^src/(signup|platform|ops)/'

/** The colours of the picture, light or dark as the reader's screen. */
const style = `<style>
  #clust1 { display: none }
  text { fill: #1f2328; font-family: Helvetica, Arial, sans-serif }
  .node path { fill: #eaf2fb; stroke: #57606a }
  .cluster path { fill: none; stroke: #8c959f; stroke-dasharray: 3 3 }
  .edge path { stroke: #57606a }
  .edge polygon { fill: #57606a; stroke: #57606a }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .cluster path { stroke: #8b949e }
    .node path { fill: #1c2b3f; stroke: #8b949e }
    .edge path { stroke: #9da7b3 }
    .edge polygon { fill: #9da7b3; stroke: #9da7b3 }
  }
</style>`

/** The imports between the rooms of `src/` as an SVG picture. Dashed arrows are imports of types. */
export async function drawArchitecture(): Promise<string> {
  const { output } = await cruise(['src'], {
    ...rules.options,
    cache: false,
    includeOnly: '^src/[^/]+/',
    exclude: ['\\.test\\.ts$', left],
    collapse: '^src/(journal|spreadsheet)/[^/]+/|^src/[^/]+/',
    outputType: 'archi',
    reporterOptions: { archi: { theme } },
  })
  const graphviz = await Graphviz.load()
  const svg = graphviz
    .layout(output as string, 'svg', 'dot')
    .replace('dependency&#45;cruiser output', 'Who imports whom')
  // Remove the links: they lead to a page that does not exist.
  return svg.replace(/<\/?a[ >][^\n]*\n/g, '\n').replace(/<g id="graph0"/, `${style}\n$&`)
}

const theme = {
  replace: true,
  graph: {
    rankdir: 'TB',
    bgcolor: 'transparent',
    nodesep: '0.35',
    ranksep: '0.5',
    fontname: 'Helvetica',
    fontsize: '12',
    style: 'rounded',
  },
  node: {
    shape: 'box',
    style: 'rounded',
    fontname: 'Helvetica',
    fontsize: '14',
    margin: '0.2,0.1',
  },
  edge: { arrowsize: '0.7' },
  dependencies: [{ criteria: { dependencyTypes: 'type-only' }, attributes: { style: 'dashed' } }],
}

if (import.meta.main) {
  const path = join(import.meta.dirname, '../docs/architecture.svg')
  await writeFile(path, await drawArchitecture())
}
