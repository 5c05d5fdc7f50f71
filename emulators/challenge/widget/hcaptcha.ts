/** The emulated hCaptcha script: `window.hcaptcha`. */
import { Checkboxes, type WidgetId } from './checkbox.ts'
import { type Options, whenLoaded } from './page.ts'

const widgets = new Checkboxes({
  provider: 'hcaptcha',
  title: 'hCaptcha',
  fieldName: 'h-captcha-response',
})

const hcaptcha = {
  /** Ids are texts. */
  render: (element: HTMLElement, options?: Options) => String(widgets.render(element, options)),
  reset: (id?: WidgetId) => widgets.find(id).start(),
  remove: (id?: WidgetId) => widgets.find(id).remove(),
  getResponse: (id?: WidgetId) => widgets.find(id).token,
}

Object.assign(window, { hcaptcha })
whenLoaded('h-captcha', hcaptcha.render)
