import type { HTMLAttributes, PublicProps } from 'vue'
import type { RollcallAttributes, RollcallElement, RollcallEvents } from './rollcall-form.js'

/** Vue has a capital letter after `on`: `@rollcall:success` is `onRollcall:success`. */
type Handlers = {
  [Name in keyof RollcallEvents as `on${Capitalize<Name>}`]?: (event: RollcallEvents[Name]) => void
}

declare module 'vue' {
  interface GlobalComponents {
    'rollcall-form': new () => RollcallElement & {
      $props: HTMLAttributes & PublicProps & RollcallAttributes & Handlers
    }
  }
}
