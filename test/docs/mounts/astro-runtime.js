/**
 * The functions of Astro's runtime that static components need. They return text. Astro itself
 * escapes more, and streams.
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
