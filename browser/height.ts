/** What a frame of ours tells the page around, and with which that page asks for it. */
export const heightMessage = 'rollcall:height'

/** Tells the page around how high this one is, now, whenever that changes, and when it is asked. */
export function tellHeight(): void {
  const root = document.documentElement
  const tell = () => {
    const height = Math.ceil(root.getBoundingClientRect().height)
    // To whomever: it says nothing of anybody.
    parent.postMessage({ type: heightMessage, height }, '*')
  }
  new ResizeObserver(tell).observe(root)
  addEventListener('message', ({ source, data }: MessageEvent<{ type?: unknown } | null>) => {
    if (source === parent && data?.type === heightMessage) tell()
  })
}
