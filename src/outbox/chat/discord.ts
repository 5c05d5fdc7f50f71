import { type Chat, codeOf } from './chat.ts'

/** A flag of messages: no link in it gets a preview. */
const suppressEmbeds = 4

export const discord: Chat = {
  charactersMax: 2_000,
  escape: codeOf,
  body: (lines) => ({
    content: lines.join('\n'),
    allowed_mentions: { parse: [] },
    flags: suppressEmbeds,
  }),
}
