import { RollcallForm } from './element.ts'
import { enhance } from './enhance.ts'
import type { Handle } from './form.ts'
import type { Options } from './options.ts'
import { renderScripts } from './place.ts'

/** Puts a form into an element of the page. */
function render(element: Element, options: Options = {}): Handle & { readonly element: Element } {
  const form = new RollcallForm()
  form.options = options
  element.append(form)
  return { element: form, reset: () => form.reset(), remove: () => form.remove() }
}

// First of all it finds out where the service is, which elements that are there already need.
renderScripts()

const page = window as { Rollcall?: object }

// A second copy has nothing to add but the forms of its own tags.
if (!page.Rollcall) {
  page.Rollcall = { render, enhance }
  customElements.define('rollcall-form', RollcallForm)
}
