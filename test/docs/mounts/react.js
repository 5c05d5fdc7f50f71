import { createElement, StrictMode } from 'react'
import { createRoot } from 'react-dom/client'

/** Mounts in strict mode, in which React mounts everything twice to find what a component leaves behind. */
export function mount(component, box, props) {
  const root = createRoot(box)
  root.render(createElement(StrictMode, null, createElement(component, props)))
  return () => root.unmount()
}
