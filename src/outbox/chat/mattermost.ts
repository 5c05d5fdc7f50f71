import { type Chat, codeOf } from './chat.ts'

/** Servers take 16,383 characters, old ones 4,000. */
export const mattermost: Chat = {
  charactersMax: 4_000,
  escape: codeOf,
  body: (lines) => ({ text: lines.join('\n') }),
}
