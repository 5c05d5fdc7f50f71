import { expect, test } from 'vitest'
import { attacks } from '../attacks/attacks.ts'
import { carryOut } from '../attacks/carry-out.ts'

test.each(attacks)('one client does not harm the others at full size: $what', async (attack) => {
  await expect(carryOut(attack, 'full')).resolves.toBeUndefined()
})
