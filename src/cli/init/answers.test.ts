import { expect, test } from 'vitest'
import { assertOthers } from './answers.ts'

const environmentOf = (variables: Readonly<Record<string, string>>) => ({
  variables,
  folder: '/app',
  readText: () => '',
})

test('a database is right before a sheet is asked for, and a wrong URL is not', () => {
  const url = 'postgres://u:p@localhost/d'
  expect(() => assertOthers(environmentOf({ DATABASE_URL: url }))).not.toThrow()
  expect(() => assertOthers(environmentOf({ DATABASE_URL: 'mysql://h/d' }))).toThrow('DATABASE_URL')
})

test('settings that are not asked for have to be right', () => {
  expect(() => assertOthers(environmentOf({}))).not.toThrow()
  expect(() => assertOthers(environmentOf({ PORT: 'eighty' }))).toThrow('PORT')
})
