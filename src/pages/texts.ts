import type { Language } from '../signup/languages.ts'
import type { FieldTexts } from './field-messages.ts'
import ar from './languages/ar.json' with { type: 'json' }
import de from './languages/de.json' with { type: 'json' }
import en from './languages/en.json' with { type: 'json' }
import es from './languages/es.json' with { type: 'json' }
import fr from './languages/fr.json' with { type: 'json' }
import hi from './languages/hi.json' with { type: 'json' }
import it from './languages/it.json' with { type: 'json' }
import ja from './languages/ja.json' with { type: 'json' }
import ko from './languages/ko.json' with { type: 'json' }
import nl from './languages/nl.json' with { type: 'json' }
import pl from './languages/pl.json' with { type: 'json' }
import pt from './languages/pt.json' with { type: 'json' }
import tr from './languages/tr.json' with { type: 'json' }
import zh from './languages/zh.json' with { type: 'json' }

/** All texts of the pages in one language. */
export interface PageTexts {
  readonly form: {
    readonly title: string
    readonly email: string
    readonly name: string
    /** Marks a field that may stay empty. */
    readonly optional: string
    readonly submit: string
    /** Stands in a list of options until the visitor has chosen one. */
    readonly choose: string
    /** Begins the title of a page with errors, so that screen readers say it first. */
    readonly error: string
  }
  /** The messages about a field. */
  readonly fields: FieldTexts &
    Readonly<Record<'emailMissing' | 'emailWrong' | 'nameMissing' | 'nameTooLong', string>>
  readonly thanks: {
    readonly title: string
    readonly text: string
    /** Shown only when the page is not in a frame. */
    readonly close: string
    /** The link to the site's next page. */
    readonly next: string
  }
  /** For browsers without scripts, when the challenge is on. */
  readonly noScript: ProblemText
  readonly problems: Readonly<Record<PageProblem, ProblemText>>
  /** The word before the id of the request in the log. */
  readonly reference: string
}

/** The problems that a page can show. For developers, `detail` of the JSON answer is more exact. */
export type PageProblem =
  | 'fields'
  | 'challenge'
  | 'address'
  | 'forbidden'
  | 'notFound'
  | 'method'
  | 'tooLarge'
  | 'unreadable'
  | 'tooMany'
  | 'unavailable'
  | 'unknown'
  | 'unexpected'

export interface ProblemText {
  readonly title: string
  /** Tells what to do. */
  readonly text: string
}

export const pageTexts: Readonly<Record<Language, PageTexts>> = {
  ar,
  de,
  en,
  es,
  fr,
  hi,
  it,
  ja,
  ko,
  nl,
  pl,
  pt,
  tr,
  zh,
}
