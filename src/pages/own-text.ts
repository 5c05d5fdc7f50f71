import { html } from 'hono/html'
import type { Html } from './document.ts'
import type { View } from './view.ts'

/** A text of the settings, marked as another language where the page speaks another one. */
export function ownText({ settings, language }: View, text: string | Html): string | Html {
  const own = settings.language ?? 'en'
  return own === language ? text : html`<span lang="${own}" dir="auto">${text}</span>`
}
