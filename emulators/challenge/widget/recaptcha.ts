/** The emulated reCAPTCHA v2 script: `window.grecaptcha`. */
import { Checkboxes, type WidgetId } from './checkbox.ts'
import { whenLoaded } from './page.ts'

const widgets = new Checkboxes({
  provider: 'recaptcha',
  title: 'reCAPTCHA',
  fieldNames: ['g-recaptcha-response'],
  id: String,
})

const grecaptcha = {
  /** Ids are numbers. */
  render: (container: unknown, options?: Record<string, unknown>) =>
    Number(widgets.render(container, options)),
  reset: (id?: WidgetId) => widgets.find(id).start(),
  getResponse: (id?: WidgetId) => widgets.find(id).token,
  execute: async (id?: WidgetId) => {
    await widgets.execute(id)
  },
  ready: (callback: () => void) => void setTimeout(callback),
}

const page = window as unknown as { grecaptcha?: typeof grecaptcha }
if (!page.grecaptcha) {
  page.grecaptcha = grecaptcha
  whenLoaded('g-recaptcha', (element) => void grecaptcha.render(element))
}
