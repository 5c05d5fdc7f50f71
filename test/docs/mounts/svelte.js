import { mount as mountComponent, unmount } from 'svelte'

export function mount(component, target, props) {
  const mounted = mountComponent(component, { target, props })
  return () => unmount(mounted)
}
