import { expect, test } from 'vitest'
import { visitorsView } from '../../harness/page-options.ts'
import { thanksPage } from './page-routes.ts'

test('the thank-you page has a heading, a language and a status', async () => {
  const page = await thanksPage(visitorsView('/api/signup/thanks'))
  expect(page).toMatch(/^<!doctype html>/)
  expect(page).toContain('<html lang="en" dir="ltr" data-theme="auto">')
  expect(page).toMatch(/<div [^>]*role="status">[^]*<h1>Thank you<\/h1>/)
})
