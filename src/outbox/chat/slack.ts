import { type Chat, codeOf } from './chat.ts'

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** It takes 40,000 characters, of which nobody reads so many. `<!channel>` and the like end with entities only. */
export const slack: Chat = {
  charactersMax: 4_000,
  escape: (line) => codeOf(line).replace(/[&<>]/g, (it) => entities[it] ?? it),
  body: (lines) => ({ text: lines.join('\n'), unfurl_links: false, unfurl_media: false }),
}
