import { expect, test } from 'vitest'
import { withConsent } from './embed-consent.ts'

test('the embed knows the text of the consent and its language', () => {
  const consent = [{ text: 'I accept the ' }, { text: 'terms', url: 'https://example.com/' }]
  expect(withConsent('script()', { consent, language: 'de' })).toBe(
    '"use strict";{const rollcallConsent={"text":"I accept the [terms](https://example.com/)","language":"de"};script()}',
  )
  expect(withConsent('script()', { consent, language: undefined })).toContain('"language":"en"')
})

test('without a consent the embed stays as it is', () => {
  expect(withConsent('script()', { consent: undefined, language: 'de' })).toBe('script()')
})
