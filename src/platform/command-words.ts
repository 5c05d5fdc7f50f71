/** By the folder of the program: what stands before a command, and what starts the service. */
const ways: readonly (readonly [folder: RegExp, command: string, serve: string])[] = [
  [/[/\\]node_modules[/\\]/, 'npx rollcall', 'npx rollcall'],
  // Inside the container of Dockerfile.
  [/^\/app\//, 'node src/start.js', 'node src/start.js'],
  // With examples/systemd.
  [/^\/opt\/rollcall\//, 'sudo rollcall', 'sudo systemctl start rollcall'],
  [/^/, 'npm run -s rollcall --', 'npm start'],
]

/** How a person calls the Rollcall of a folder. */
export function wordsIn(folder: string) {
  const [, program = '', serve = ''] = ways.find(([form]) => form.test(folder)) ?? []
  /** A command as a person types it: `npx rollcall doctor`. */
  const rollcall = (command: string): string => `${program} ${command}`
  return { rollcall, serve }
}

export const { rollcall, serve } = wordsIn(import.meta.dirname)
