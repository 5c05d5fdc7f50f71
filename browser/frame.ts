import { heightMessage } from './height.ts'

/** Runs on a page with our form in a frame. Keeps the frame as high as its content, up to this height. */
const heightMax = 5000

const script = document.currentScript ?? document.querySelector('script[src*="/embed/frame.js"]')
const { origin } = new URL((script as HTMLScriptElement).src)

addEventListener('message', ({ origin: from, source, data }: MessageEvent<unknown>) => {
  if (from !== origin || !isHeight(data)) return
  for (const frame of document.querySelectorAll('iframe')) {
    if (frame.contentWindow === source) frame.style.height = `${data.height}px`
  }
})

// A frame that loaded before this script has sent its height to nobody, so ask for it.
for (const frame of document.querySelectorAll('iframe')) {
  if (frame.src.startsWith(`${origin}/`)) {
    frame.contentWindow?.postMessage({ type: heightMessage }, '*')
  }
}

function isHeight(data: unknown): data is { readonly height: number } {
  const { type, height } = (data ?? {}) as { type?: unknown; height?: unknown }
  return type === heightMessage && typeof height === 'number' && height > 0 && height <= heightMax
}
