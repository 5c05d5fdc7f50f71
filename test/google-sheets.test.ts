import { spreadsheetContract } from './spreadsheet-contract.ts'
import { createGoogleWorld } from './google-world.ts'

spreadsheetContract('Google Sheets', {
  createWorld: createGoogleWorld,
  readsFormulaAs: (text) => text,
})
