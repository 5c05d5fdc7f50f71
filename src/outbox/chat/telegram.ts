import type { Chat } from './chat.ts'

/** No mention, link or command can be in a `pre`. Its length is in UTF-16 units. */
export const telegram: Chat = {
  charactersMax: 4_096,
  escape: (line) => line,
  body: (lines, url) => {
    const text = lines.join('\n')
    return {
      // The chat, and maybe its topic.
      ...Object.fromEntries(url.searchParams),
      text,
      entities: [{ type: 'pre', offset: 0, length: text.length }],
      link_preview_options: { is_disabled: true },
    }
  },
  retryAfter: (answer) => answer.parameters?.retry_after,
}
