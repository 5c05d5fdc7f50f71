import { testWorkbookCrashes } from '../crash/workbook-crashes.ts'

/** More of what test/crash/workbook.slow.test.ts tries: it would take a minute of `npm test`. */
testWorkbookCrashes([0.03, 0.97, 1], 150)
