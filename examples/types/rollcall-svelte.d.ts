import type { HTMLAttributes } from 'svelte/elements'
import type { RollcallAttributes, RollcallElement, RollcallHandlers } from './rollcall-form.js'

declare module 'svelte/elements' {
  interface SvelteHTMLElements {
    'rollcall-form': HTMLAttributes<RollcallElement> & RollcallAttributes & RollcallHandlers
  }
}
