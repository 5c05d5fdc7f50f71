import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { chromium } from 'playwright-core'

const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome']
const elsewhere = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
]

/**
 * The path of the browser for tests: CHROMIUM, or the first Chromium of the machine, or the one that
 * Playwright has downloaded.
 */
export function findChromium({ PATH = '', CHROMIUM } = process.env) {
  const onPath = PATH.split(delimiter).flatMap((folder) => names.map((name) => join(folder, name)))
  return CHROMIUM || [...onPath, ...elsewhere, chromium.executablePath()].find(isProgram)
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
