// @module-tag slow
import { expect, test } from 'vitest'
import { attacks } from './attacks.ts'
import { carryOut } from './carry-out.ts'

test.each(attacks)('one client does not harm the others: $what', async (attack) => {
  await expect(carryOut(attack, 'small')).resolves.toBeUndefined()
})
