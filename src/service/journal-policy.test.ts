import { expect, test } from 'vitest'
import { loadSettings } from '../../harness/load-settings.ts'
import { day } from '../platform/clock.ts'
import { policiesOf } from './journal-policy.ts'

test('the journal waits for a confirmation for as many days as the settings say', () => {
  const mail = { MAIL_URL: 'smtp://localhost', MAIL_FROM: 'a@example.org' }
  const needed = { ...mail, PUBLIC_URL: 'https://a.example', CONFIRMATION: 'mail' }
  const { config } = loadSettings({ ...needed, CONFIRMATION_DAYS: '3' })
  expect(policiesOf(config).get('default')?.confirmation).toEqual({ waitMs: 3 * day })
})
