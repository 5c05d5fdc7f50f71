/** The emulated hCaptcha script: `window.hcaptcha`. */
import { Checkboxes, type WidgetId } from './checkbox.ts'
import { script, whenLoaded } from './page.ts'

const isCompatible = script.option('recaptchacompat') !== 'off'
const widgets = new Checkboxes({
  provider: 'hcaptcha',
  title: 'hCaptcha',
  fieldNames: isCompatible
    ? ['h-captcha-response', 'g-recaptcha-response']
    : ['h-captcha-response'],
  id: (count) => `0emulated${count}`,
})

const hcaptcha = {
  render: (container: unknown, options?: Record<string, unknown>) =>
    widgets.render(container, options),
  reset: (id?: WidgetId) => widgets.find(id).start(),
  remove: (id?: WidgetId) => widgets.remove(id),
  getResponse: (id?: WidgetId) => widgets.find(id).token,
  getRespKey: (id?: WidgetId) => (widgets.find(id).token === '' ? '' : 'E0_emulated'),
  execute: async (id?: WidgetId) => ({ response: await widgets.execute(id), key: 'E0_emulated' }),
}

const page = window as unknown as { hcaptcha?: typeof hcaptcha; grecaptcha?: unknown }
if (!page.hcaptcha) {
  page.hcaptcha = hcaptcha
  if (isCompatible) page.grecaptcha ??= hcaptcha
  whenLoaded('h-captcha', (element) => void hcaptcha.render(element))
}
