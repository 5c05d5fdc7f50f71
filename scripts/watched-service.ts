/** What `npm run dev` starts on each change: browsers load what is built from the sources of now. */
import { browserFiles } from './setup-build.js'

if (!browserFiles.ready()) await browserFiles.install()
await import('../src/start.js')
