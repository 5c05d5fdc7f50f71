import type { Controller } from './controller.ts'
import type { FormSetup } from './form-setup.ts'
import { placeMessages } from './messages.ts'
import { once } from './once.ts'
import { isOption } from './options.ts'
import { loadLater, nonce, tellAuthor } from './place.ts'
import type { Texts } from './texts.ts'

/** The functions by which a page controls a form. */
export interface Handle {
  /** Empties the form for another signup. */
  readonly reset: () => void
  /** Removes every listener, widget and message from the page. */
  readonly remove: () => void
}

/** Show "Sending…" only after this many milliseconds. */
const quickMs = 700
/** Read at the start, because a page that navigates by script may change its address. */
const arrivedWith = location.search

/** Makes a form send its signup by script. The code for that is loaded with the first focus. */
export function takeOver(setup: FormSetup): Handle {
  const { form, texts } = setup
  const life = new AbortController()
  const { signal } = life
  const messages = placeMessages(form, texts)
  const hadNoValidate = form.noValidate
  form.noValidate = true
  let begun: Controller | undefined
  /** The timer of "Sending…", and 0 while nothing is sent. */
  let slow = 0

  const onWait = (why: keyof Texts) => {
    clearTimeout(slow)
    messages.status(why)
  }
  const begin = once(async () => {
    const { createController } = await loadLater()
    begun = await createController({
      ...setup,
      nonce,
      signal,
      messages,
      arrivedWith,
      onWait,
      isOption,
      tellAuthor,
    })
    return begun
  })
  const submit = async (submitter: HTMLElement | null) => {
    showBusy(form, 'true')
    messages.status()
    slow = window.setTimeout(onWait, quickMs, 'sending')
    await begin().then(
      (it) => it.submit(submitter),
      () => messages.alert('failed'),
    )
    clearTimeout(slow)
    slow = 0
    showBusy(form, null)
  }
  const on = (name: string, listener: (event: Event) => void) =>
    form.addEventListener(name, listener, { signal })
  on('submit', (event) => {
    event.preventDefault()
    if (!slow) void submit((event as SubmitEvent).submitter)
  })
  // Ignore a failure here: sending the form tries again and shows the failure.
  on('focusin', () => void begin().then((it) => it.prepare(), String))
  return {
    reset: () => {
      form.reset()
      begun?.clear()
      messages.status()
    },
    remove: () => {
      life.abort()
      begun?.clear()
      messages.remove()
      form.noValidate = hadNoValidate
    },
  }
}

/** Marks the button as busy. `disabled` is not used, because the button would lose the focus. */
function showBusy(form: HTMLFormElement, busy: string | null): void {
  form.ariaBusy = busy
  for (const button of form.querySelectorAll('[type=submit],button:not([type])')) {
    button.ariaDisabled = busy
  }
}
