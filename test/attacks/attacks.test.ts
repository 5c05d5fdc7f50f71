import { expect, test } from 'vitest'
import { attacks } from './attacks.ts'
import { carryOut } from './carry-out.ts'

test.each(attacks)('one client cannot harm the others by $name', async (attack) => {
  const { counts } = await carryOut(attack, 'small')
  expect(Object.keys(counts)).not.toEqual([])
})
