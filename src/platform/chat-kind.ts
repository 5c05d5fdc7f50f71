/** The chat programs that can be told of signups, each with the hosts of its URLs. */
const hosts = {
  slack: /^hooks\.slack(-gov)?\.com$/,
  discord: /^((canary|ptb)\.)?discord(app)?\.com$/,
  // Everybody runs it on a host of their own.
  mattermost: undefined,
  googlechat: /^chat\.googleapis\.com$/,
  // Workflows. The connectors of before answer 200 to what they do not take.
  teams: /\.(logic\.azure\.(com|us)|api\.powerplatform\.com)$/,
  telegram: /^api\.telegram\.org$/,
}

/** What a URL of Telegram may say beside the chat, which it must. All else is up to the message. */
export const telegramParameters = ['chat_id', 'message_thread_id', 'disable_notification']

export type ChatKind = keyof typeof hosts

export const chatKinds = Object.keys(hosts) as readonly ChatKind[]

/** The program that a host belongs to; undefined when it may be any. */
export function chatKindAt(host: string): ChatKind | undefined {
  return chatKinds.find((kind) => hosts[kind]?.test(host))
}
