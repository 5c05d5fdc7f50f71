import { testWorkbookCrashes } from './workbook-crashes.ts'

/** Few enough that a change of the sources is tried within seconds. `npm test` tries many more. */
testWorkbookCrashes([0.5, 1], 20)
