/** The words that start Rollcall, for hints: in a clone through npm's scripts, in the package through npx. */
const isInstalled = /[/\\]node_modules[/\\]/.test(import.meta.dirname)

/** What precedes a command's name, with a space at its end. */
export const rollcall = isInstalled ? 'npx rollcall ' : 'npm run -s rollcall -- '

/** What starts the service. */
export const serve = isInstalled ? 'npx rollcall' : 'npm start'
