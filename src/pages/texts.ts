import type { Language } from '../signup/languages.ts'
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

/** All texts of the pages in one language: those of English, which every language has to have. */
export type PageTexts = typeof en

/**
 * The problems that a page can show. The first line of each is its heading, and the second tells what to do.
 * For developers, `detail` of the JSON answer is more exact.
 */
export type PageProblem = keyof PageTexts['problems']

type Texts = Readonly<Record<Language, PageTexts>>

export const pageTexts: Texts = { ar, de, en, es, fr, hi, it, ja, ko, nl, pl, pt, tr, zh }

export function problemText({ problems }: PageTexts, problem: PageProblem) {
  const [heading = '', text = ''] = problems[problem].split('\n')
  return { heading, text }
}
