/** The texts that a visitor may read from the start. The option `texts` can replace each text. */
export const english = {
  /** `ltr` or `rtl`. */
  dir: 'ltr',
  email: 'Email address',
  name: 'Name',
  /** Marks a field that may stay empty. */
  optional: 'optional',
  /** Stands in a list of options until the visitor has chosen one. */
  choose: 'Please choose',
  /** The label of the field that nobody sees. */
  leaveEmpty: 'Leave this field empty',
  submit: 'Sign up',
  sending: 'Signing you up…',
  /** It may have arrived all the same: no answer does not say so, and another try is the same signup. */
  failed: 'We could not confirm that you are signed up. Please try again.',
}

/** The texts that a visitor may read from the first focus on. They are loaded then. */
export const laterEnglish = {
  done: 'Thank you! You are signed up.',
  /** Stands for that when all places were taken. */
  waiting: 'Your place is on the waiting list.',
  emailMissing: 'Please enter your email address.',
  emailWrong: 'Please enter an address such as name@example.com.',
  nameMissing: 'Please enter your name.',
  consentMissing: 'Please tick this box to sign up.',
  /** `*` is replaced by the address. */
  suggestion: 'Did you mean *?',
  offline: 'You are offline. This will be sent when you are back online.',
  retrying: 'Please wait. Still trying…',
  checking: 'Checking that you are human. If you see a box, please tick it.',
  checkFailed: 'We could not confirm that you are human. Please try again.',
  checkBlocked: 'The check that keeps bots out did not load. Please allow it, then try again.',
  /** Browsers solve no puzzle on a page without HTTPS. */
  insecure: 'Please open this page with https:// to sign up.',
  forbidden: 'Signing up does not work on this page just now.',
  unavailable: 'Signing up is not possible just now. Please come back later.',
  /** The link to the next page, below the thanks. */
  next: 'Continue',
  /** What stands for the thanks where people confirm by mail: a heading, two lines, and the way back to the form. */
  pending: 'Please look into your mail',
  pendingText: 'Open the link in our message and confirm there. Only then are you signed up.',
  pendingSpam: 'Nothing there? Wait 15 minutes, and look into the spam folder.',
  again: 'Correct the address',
}

type FirstTexts = Record<keyof typeof english, string>

/**
 * Texts that only a page or a site gives: the heading above the form, the line below it, and what is told
 * when signups have closed or all places are taken, for which the service has words, too.
 */
type GivenTexts = Partial<Record<'title' | 'text' | 'closed' | 'overflow', string>>

export type Texts = FirstTexts & Record<keyof typeof laterEnglish, string> & GivenTexts

/** The texts of a form. Until the first focus it may lack those that are loaded then. */
export type FormTexts = FirstTexts & Partial<Texts>

/** The languages. Each but English has a file of its own, which is loaded when needed. */
const languages = 'en|de|fr|es|pt|it|nl|pl|tr|ar|hi|ja|ko|zh'

/** The longest wait for a language file. After it, the form is shown in English. */
const waitMs = 3000

/** The first supported language (BCP 47, `de` for `de-AT`): the wanted one, the page's, the browser's. */
export function chooseLanguage(wanted: string | undefined, element: Element): string {
  const around = element.closest<HTMLElement>('[lang]')?.lang
  return (
    [wanted, around, ...navigator.languages]
      .map((tag) => tag?.slice(0, 2).toLowerCase())
      .find((tag) => tag && languages.includes(tag)) ?? 'en'
  )
}

/** Loads the texts of a language. English is used for texts that it lacks or when it cannot be loaded. */
export async function readTexts(language: string, endpoint: string): Promise<Partial<Texts>> {
  if (language === 'en') return {}
  return readFile(`${language}.json`, endpoint, AbortSignal.timeout(waitMs))
}

/** Reads a JSON file of the service, `…/embed/NAME`. Empty when it does not come. */
export function readFile<Content>(
  name: string,
  endpoint: string,
  signal: AbortSignal | null = null,
): Promise<Partial<Content>> {
  const answer = fetch(new URL(`../embed/${name}`, endpoint), { signal })
  return answer.then((it) => it.json() as Promise<Content>).catch(() => ({}))
}
