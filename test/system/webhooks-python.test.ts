import { test } from 'vitest'

import { documentedCode, expectToVerify, startReceiver } from '../../harness/documented-receiver.ts'

test('the receiver in Python takes what is signed by either secret, works on it once, and refuses the rest', async () => {
  const code = documentedCode('Verify them', 'python')
  await using receiver = await startReceiver(['python3', 'receiver.py'], code)
  await expectToVerify(receiver)
})
