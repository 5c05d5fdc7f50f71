import { type ChatPost, chatPrograms, startChatEmulator } from '../emulators/chat.ts'
import { escapeHtml } from '../emulators/google-sheets/html.ts'
import { postBulk } from '../harness/post-signup.ts'
import { startService } from '../harness/start-service.ts'

const names = {
  ...{ slack: 'Slack', discord: 'Discord', mattermost: 'Mattermost' },
  ...{ googlechat: 'Google Chat', teams: 'Microsoft Teams', telegram: 'Telegram' },
}

/** A page that draws what the service sends to a channel of each program when these people sign up at once. */
export async function chatPage(people: readonly object[]): Promise<string> {
  let at = 0
  await using channels = await startChatEmulator(() => (at += 60_000))
  const { emulator, url } = channels
  const fields = [{ name: 'company', label: 'Company' }]
  const variableOf = (program: string) => `CHAT_URL_${program.toUpperCase()}`
  const siteOf = (chatKind: string) => ({
    ...{ chatKind, chatVariable: variableOf(chatKind), fields, page: { title: 'Launch' } },
  })
  const sites = Object.fromEntries(chatPrograms.map((it) => [it, siteOf(it)]))
  const urls = chatPrograms.map((it) => [variableOf(it), url + emulator.pathOf(it)] as const)
  await using service = await startService({
    env: { ...Object.fromEntries(urls), ROLLCALL_CONFIG: JSON.stringify({ sites }) },
  })
  const drawn = chatPrograms.map(async (program) => {
    await postBulk(service.url, { site: program, signups: people })
    for (;;) {
      const post = emulator.posts.find((it) => it.program === program)
      if (post)
        return `<section><h2>${names[program]}</h2><div class="${program}"><b>Rollcall</b>${drawnBody(post)}</div></section>`
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  })
  const main = (await Promise.all(drawn)).join('')
  return `<!doctype html><html lang="en"><title>Chat</title><style>${css}</style><main>${main}</main></html>`
}

interface Body {
  readonly text?: string
  readonly content?: string
  readonly attachments?: readonly [{ readonly content: Card }]
}

interface Card {
  readonly body: readonly { readonly inlines: readonly [{ readonly text: string }] }[]
}

/** A text of Telegram's is preformatted as a whole, each line of a card is a block, and the others know code in a line. */
function drawnBody({ program, body }: ChatPost): string {
  const { text = '', content = text, attachments } = JSON.parse(body) as Body
  if (program === 'telegram') return `<pre>${escapeHtml(text)}</pre>`
  const runs = attachments?.[0].content.body.map(({ inlines: [run] }) => escapeHtml(run.text))
  // Slack's text has its entities.
  const lines = (program === 'slack' ? content : escapeHtml(content)).split('\n')
  const coded = lines.map((line) => line.replaceAll(/`([^`]+)`/g, '<code>$1</code>'))
  return (runs ?? coded).map((line) => `<p>${line}</p>`).join('')
}

const css = `:root { color-scheme: light dark; --code: light-dark(#eef0f3, #2c343e) }
body { margin: 0; font: 13px/1.45 system-ui, sans-serif; background: light-dark(#fff, #1b2129) }
main { display: grid; grid-template-columns: 1fr 1fr; gap: 10px 20px; padding: 14px; overflow-wrap: anywhere }
h2 { margin: 0 0 4px; font-size: 13px; color: light-dark(#5c6672, #a3adb9) }
section > div { padding: 8px 10px; border: 1px solid light-dark(#d5dae0, #3a434e); border-radius: 6px }
p, pre { margin: 2px 0; white-space: pre-wrap }
code, pre { padding: 1px 3px; border-radius: 3px; background: var(--code); font: 12px/1.5 ui-monospace, monospace }
.slack code { color: light-dark(#b02a4c, #ff9db0) }`
