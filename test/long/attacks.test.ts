import { expect, test } from 'vitest'
import { attacks } from '../attacks/attacks.ts'
import { carryOut } from '../attacks/carry-out.ts'

test.each(attacks)('one client cannot harm the others by $name at full size', async (attack) => {
  const { counts } = await carryOut(attack, 'full')
  expect(Object.keys(counts)).not.toEqual([])
})
