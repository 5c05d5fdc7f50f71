import { expect, test } from 'vitest'
import { attacks } from '../attack/attacks.ts'
import { carryOut } from '../attack/carry-out.ts'

test.each(attacks)('one client cannot harm the others by $name', async (attack) => {
  const { counts } = await carryOut(attack, 'small')
  expect(Object.keys(counts)).not.toEqual([])
})
