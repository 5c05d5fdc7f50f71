export const darkSystem = matchMedia('(prefers-color-scheme: dark)')

/** The theme that fits the background behind the element: a light page on a dark system gets a light form. */
export function themeFor(element: Element, wanted: string | undefined): 'light' | 'dark' {
  if (wanted === 'light' || wanted === 'dark') return wanted
  return isDarkBehind(element) ? 'dark' : 'light'
}

function isDarkBehind(element: Element): boolean {
  for (let at = element.parentElement; at; at = at.parentElement) {
    const color = getComputedStyle(at).backgroundColor
    const [red = 0, green = 0, blue = 0, alpha = 1] = color.match(/[\d.]+/g)?.map(Number) ?? []
    // Weight the colours as the eye does. Half of full brightness divides light from dark.
    if (color.startsWith('rgb') && alpha > 0.5) return red * 3 + green * 6 + blue < 1280
  }
  const { colorScheme } = getComputedStyle(document.documentElement)
  return colorScheme.includes('dark') && (!colorScheme.includes('light') || darkSystem.matches)
}
