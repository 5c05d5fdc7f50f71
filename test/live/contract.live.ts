import { spreadsheetContract } from '../spreadsheet/spreadsheet-contract.ts'
import { connectLive, createLiveWorld } from './live-world.ts'

const live = await connectLive()

spreadsheetContract('Google Sheets, live', {
  createWorld: () => createLiveWorld(live),
  readsFormulaAs: (text) => text,
})
