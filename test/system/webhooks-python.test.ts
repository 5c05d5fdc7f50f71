import { test } from 'vitest'

import { expectToVerify, startReceiver } from '../../harness/documented-receiver.ts'

test('the receiver in Python takes what is signed by either secret, works on it once, and refuses the rest', async () => {
  await using receiver = await startReceiver(['python3', 'receiver.py'])
  await expectToVerify(receiver)
})
