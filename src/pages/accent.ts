/** Red, green and blue, 0 to 255. */
type Color = readonly [number, number, number]

/** The background of cards in browser/form.css, in each theme. */
export const surfaces = { light: '#ffffff', dark: '#1b2129' } as const

const black: Color = [0, 0, 0]
const white: Color = [255, 255, 255]

/** The contrast of text (WCAG 2.2, 1.4.3). */
const textContrast = 4.5
/** The contrast of the shapes of controls (WCAG 2.2, 1.4.11). */
const shapeContrast = 3
const steps = 50

/** The colours of browser/form.css, where a site has no accent colour. */
const ours = {
  light: { accent: '#1c5bd0', shade: '#000000', onAccent: '#ffffff', line: '#1c5bd0' },
  dark: { accent: '#8db6ff', shade: '#ffffff', onAccent: '#0b1a33', line: '#8db6ff' },
}

/** Derives the colours of a theme (`#rrggbb`) from an accent colour, readable by WCAG AA. */
export function accentColors(accent: string | undefined, theme: 'light' | 'dark') {
  if (accent === undefined) return ours[theme]
  const surface = parse(surfaces[theme])
  const away = theme === 'light' ? black : white
  const given = parse(accent)
  // On a dark card a dark button must be lightened. On a light card its edge shows a light button.
  const button = theme === 'light' ? given : apart(given, surface, away, shapeContrast)
  const onAccent = contrast(button, white) >= textContrast ? white : black
  return {
    /** The background of the button. */
    accent: format(button),
    /** What is mixed into it under the pointer: away from the text, so that it stays readable. */
    shade: format(onAccent === white ? black : white),
    /** The text of the button. */
    onAccent: format(onAccent),
    /** Links, the focus ring and the edge of the button. */
    line: format(apart(given, surface, away, textContrast)),
  }
}

/** The rule that replaces the colours in browser/form.css, unless the page around an embed sets its own. */
export function accentStyles(accent: string): string {
  const [light, dark] = [accentColors(accent, 'light'), accentColors(accent, 'dark')]
  const both = (name: keyof typeof light) => `light-dark(${light[name]}, ${dark[name]})`
  return (
    `:root,.card{--accent:var(--rollcall-accent, ${both('line')});` +
    `--fill:var(--rollcall-accent, ${both('accent')});` +
    `--on-fill:var(--rollcall-on-accent, var(--on-own, ${both('onAccent')}));` +
    `--shade:var(--off-own, ${both('shade')})}`
  )
}

/** Mixes just enough of `towards` into the colour to reach the contrast with the surface. */
function apart(color: Color, surface: Color, towards: Color, ratio: number): Color {
  for (let step = 0; step < steps; step++) {
    const mixed = mix(color, towards, step / steps)
    if (contrast(mixed, surface) >= ratio) return mixed
  }
  return towards
}

/** The contrast ratio of two colours, from 1 to 21. */
export function contrast(one: Color, other: Color): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (lighter + 0.05) / (darker + 0.05)
}

/** The relative luminance as WCAG 2.2 defines it. */
function luminance(color: Color): number {
  const [red = 0, green = 0, blue = 0] = color.map((value) => {
    const part = value / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function mix([r, g, b]: Color, [r2, g2, b2]: Color, share: number): Color {
  const part = (from: number, to: number) => Math.round(from + (to - from) * share)
  return [part(r, r2), part(g, g2), part(b, b2)]
}

export function parse(text: string): Color {
  const value = Number.parseInt(text.slice(1), 16)
  return [value >> 16, (value >> 8) & 255, value & 255]
}

function format(color: Color): string {
  return `#${color.map((value) => value.toString(16).padStart(2, '0')).join('')}`
}
