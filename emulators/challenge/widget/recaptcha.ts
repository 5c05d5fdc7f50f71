/** The emulated reCAPTCHA v2 script: `window.grecaptcha`. */
import { Checkboxes, type WidgetId } from './checkbox.ts'
import { type Options, whenLoaded } from './page.ts'

const widgets = new Checkboxes({
  provider: 'recaptcha',
  title: 'reCAPTCHA',
  fieldName: 'g-recaptcha-response',
})

const grecaptcha = {
  /** Ids are numbers. */
  render: (element: HTMLElement, options?: Options) => widgets.render(element, options),
  reset: (id?: WidgetId) => widgets.find(id).start(),
  getResponse: (id?: WidgetId) => widgets.find(id).token,
}

Object.assign(window, { grecaptcha })
whenLoaded('g-recaptcha', grecaptcha.render)
