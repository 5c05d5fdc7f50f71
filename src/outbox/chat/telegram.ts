import { telegramParameters } from '../../platform/chat-kind.ts'
import type { Chat } from './chat.ts'

/** No mention, link or command can be in a `pre`. Its length is in UTF-16 units. */
export const telegram: Chat = {
  charactersMax: 4_096,
  escape: (line) => line,
  isQueryInBody: true,
  body: (lines, query) => {
    const text = lines.join('\n')
    return {
      ...Object.fromEntries([...query].filter(([name]) => telegramParameters.includes(name))),
      text,
      entities: [{ type: 'pre', offset: 0, length: text.length }],
      link_preview_options: { is_disabled: true },
    }
  },
}
