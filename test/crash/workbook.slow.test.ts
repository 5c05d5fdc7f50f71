// @module-tag slow
import { testWorkbookCrashes } from './workbook-crashes.ts'

testWorkbookCrashes([0, 0.03, 0.5, 0.97, 0.999, 1], 200)
