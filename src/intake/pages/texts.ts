/** Everything that a page says in one language, but for what is wrong with a field. */
export interface PageTexts {
  /** BCP 47. */
  readonly lang: string
  readonly dir: 'ltr' | 'rtl'
  readonly form: {
    readonly title: string
    readonly email: string
    readonly name: string
    /** Said of a field that may stay empty. */
    readonly optional: string
    readonly submit: string
    /** Begins the title of a page with errors, so that it is the first thing heard. */
    readonly error: string
  }
  readonly thanks: { readonly title: string; readonly text: string }
  readonly problems: Readonly<Record<PageProblem, ProblemText>>
  /** Before the id that finds the error in the log. */
  readonly reference: string
}

/** What a visitor can be told; for developers, `detail` of the JSON answer says it more exactly. */
export type PageProblem =
  | 'fields'
  | 'challenge'
  | 'forbidden'
  | 'notFound'
  | 'method'
  | 'tooLarge'
  | 'unreadable'
  | 'tooMany'
  | 'unavailable'
  | 'unexpected'

export interface ProblemText {
  readonly title: string
  /** What to do. */
  readonly text: string
}

export const english: PageTexts = {
  lang: 'en',
  dir: 'ltr',
  form: {
    title: 'Sign up',
    email: 'Email address',
    name: 'Name',
    optional: 'optional',
    submit: 'Sign up',
    error: 'Error',
  },
  thanks: {
    title: 'Thank you',
    text: 'We have received your signup. You can close this page.',
  },
  problems: {
    fields: {
      title: 'That did not work yet',
      text: 'Please correct what is named below and send it again.',
    },
    challenge: {
      title: 'We could not tell that you are a person',
      text: 'Nothing was stored. Please send the form once more.',
    },
    forbidden: {
      title: 'This form cannot be used from where it is',
      text: 'Nothing was stored. Please tell the people whose page you came from.',
    },
    notFound: {
      title: 'There is nothing here',
      text: 'Please check the address for typing errors.',
    },
    method: {
      title: 'There is nothing to see here',
      text: 'To sign up, go back to the page with the form and send it from there.',
    },
    tooLarge: {
      title: 'That was too much at once',
      text: 'Nothing was stored. Please go back, shorten what you wrote and send it again.',
    },
    unreadable: {
      title: 'We could not read what was sent',
      text: 'Nothing was stored. Please go back and try once more.',
    },
    tooMany: {
      title: 'Too many signups at once',
      text: 'Nothing was stored. Please wait a minute and send it again.',
    },
    unavailable: {
      title: 'We cannot take signups just now',
      text: 'Nothing was stored. Please send it again in a moment.',
    },
    unexpected: {
      title: 'Something went wrong here',
      text: 'Please try again in a moment.',
    },
  },
  reference: 'Reference',
}
