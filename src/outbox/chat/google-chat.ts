import { type Chat, codeOf } from './chat.ts'

/** It takes 32,000 bytes: 4,000 UTF-16 units have at most 12,000. */
export const googlechat: Chat = {
  charactersMax: 4_000,
  escape: codeOf,
  body: (lines) => ({ text: lines.join('\n') }),
}
