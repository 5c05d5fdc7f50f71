// @module-tag slow
import { join } from 'node:path'
import { tempFolder } from '../../harness/temp-folder.ts'
import { openSqliteSites } from '../../src/journal/sqlite/sqlite-journal.ts'
import { comparisonTests } from './contracts/comparison-contract.ts'
import { holdTo } from './contracts/contract.ts'
import { contracts } from './contracts/contracts.ts'
import { besideFirstSite } from './second-site.ts'
import { withInstances } from './several-instances.ts'

const secondSite = besideFirstSite(async () => {
  const folder = await tempFolder()
  return {
    openSites: async (policies) => openSqliteSites(join(folder.path, 'journal.db'), policies),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  }
})
for (const [name, tests] of Object.entries(contracts)) {
  holdTo(`SQLite, two instances with a second site, ${name}`, tests, withInstances(2, secondSite))
}
holdTo('SQLite, a second site beside a first one, comparison', comparisonTests, secondSite)
