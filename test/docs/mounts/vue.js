import { createApp } from 'vue'

export function mount(component, box, props) {
  const app = createApp(component, props)
  app.mount(box)
  return () => app.unmount()
}
