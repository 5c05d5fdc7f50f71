/**
 * As much of what Astro's compiler imports as static components need: they become text. Astro
 * itself escapes more and streams.
 */
export const createComponent = (make) => make
export const createAstro = () => ({})
export const createMetadata = () => ({})
export const maybeRenderHead = () => ''
export const render = (texts, ...values) => String.raw({ raw: texts }, ...values)

export function renderComponent(_result, name, _component, props) {
  const attributes = Object.entries(props).map(([key, value]) => ` ${key}="${value}"`)
  return `<${name}${attributes.join('')}></${name}>`
}
