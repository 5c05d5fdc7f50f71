/** `npm run dev` runs this on each change: it builds the scripts for browsers and starts the service. */
import { browserFiles } from './setup-build.js'

if (!browserFiles.ready()) await browserFiles.install()
await import('../src/start.js')
