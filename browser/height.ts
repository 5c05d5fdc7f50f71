/** The type of the messages by which a frame tells its height, and the page around asks for it. */
export const heightMessage = 'rollcall:height'

/** Tells the page around this page's height: now, after each change, and when asked. */
export function tellHeight(): void {
  const root = document.documentElement
  const tell = () => {
    const height = Math.ceil(root.getBoundingClientRect().height)
    // Any page may receive it, because a height is not personal.
    parent.postMessage({ type: heightMessage, height }, '*')
  }
  new ResizeObserver(tell).observe(root)
  addEventListener('message', ({ source, data }: MessageEvent<{ type?: unknown } | null>) => {
    if (source === parent && data?.type === heightMessage) tell()
  })
}
