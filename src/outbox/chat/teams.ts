import type { Chat } from './chat.ts'

/**
 * An Adaptive Card. A TextRun knows no Markdown, and only `msteams.entities`, which it has not, mention somebody. A
 * card has at most 28 KB: 8,000 UTF-16 units have at most 24,000 bytes.
 */
export const teams: Chat = {
  charactersMax: 8_000,
  escape: (line) => line,
  body: (lines) => ({
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          type: 'AdaptiveCard',
          version: '1.2',
          body: lines.map((text) => ({
            type: 'RichTextBlock',
            inlines: [{ type: 'TextRun', text }],
          })),
        },
      },
    ],
  }),
}
