import type { DetailedHTMLProps, HTMLAttributes } from 'react'
import type { RollcallAttributes, RollcallElement, RollcallHandlers } from './rollcall-form.js'

interface Props extends HTMLAttributes<RollcallElement>, RollcallAttributes, RollcallHandlers {}

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'rollcall-form': DetailedHTMLProps<Props, RollcallElement>
    }
  }
}
