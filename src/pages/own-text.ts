import { html } from 'hono/html'
import type { Html } from './document.ts'
import type { View } from './view.ts'

/** A text from the settings, marked with its language when the page is in another one. */
export function ownText({ settings, language }: View, text: string | Html): string | Html {
  const own = settings.language ?? 'en'
  return own === language ? text : html`<span lang="${own}" dir="auto">${text}</span>`
}
