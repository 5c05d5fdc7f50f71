import { hash } from 'node:crypto'
import { consentIn, withSentConsent } from '../../../signup/metadata.ts'
import type { Signup } from '../../../signup/signup.ts'
import { ask, type Operation } from '../../sql.ts'
import { factOf, readFact, setFact } from '../facts.ts'
import type { Site } from '../site.ts'

/*
 * The texts that people could agree to: those of the settings, and those that earlier settings had. The journal
 * keeps their digests, as each signup has its text itself.
 */

/** The fact with the digests, the latest first. */
const wordingsFact = 'wordings'
/** A text has up to 14 languages, and hardly ever changes. */
const wordingsMax = 100

const digestOf = (text: string) => hash('sha256', text, 'base64')

type Wordings = Pick<Site, 'id' | 'policy'>

/** What is to be noted of the settings; undefined when they are noted already. */
export function* wordingsToNote({ id, policy }: Wordings): Operation<string | undefined> {
  const { wordings = [] } = policy
  if (wordings.length === 0) return undefined
  const noted = (yield* factOf(id, wordingsFact)) ?? ''
  const all = new Set([...wordings.map(digestOf), ...noted.split(' ')])
  const text = [...all].filter(Boolean).slice(0, wordingsMax).join(' ')
  return text === noted ? undefined : text
}

/** Notes the texts of the settings. It needs the lock of the site. */
export function* notingWordings(site: Wordings): Operation<void> {
  const text = yield* wordingsToNote(site)
  if (text !== undefined) yield* ask(setFact(site.id, wordingsFact, text))
}

/**
 * Stores signups of a request. What one calls its consent is kept as such only if it is a text of the site. The
 * journal is asked only where the settings do not know a text.
 */
export function withWordings<Stored>(
  { db, id, policy }: Site,
  signups: readonly Signup[],
  store: (signups: readonly Signup[]) => Promise<Stored>,
): Promise<Stored> {
  const { wordings = [] } = policy
  const said = signups.map(({ metadata }) => consentIn(metadata))
  if (said.every((text) => text === undefined || wordings.includes(text))) return store(signups)
  return readFact({ db, id }, wordingsFact).then((noted = '') => {
    const known = new Set([...wordings.map(digestOf), ...noted.split(' ')])
    const told = signups.map((one, at) => {
      const text = said[at]
      if (text === undefined || known.has(digestOf(text))) return one
      return { ...one, metadata: withSentConsent(one.metadata) }
    })
    return store(told)
  })
}
