import { expect, test } from 'vitest'
import { mailboxOf } from './mailbox.ts'

test.for([
  ['Ada.Love+news@Gmail.com', 'adalove@gmail.com'],
  ['a.d.a@googlemail.com', 'ada@gmail.com'],
  ['ada+1@outlook.com', 'ada@outlook.com'],
  ['a.da@outlook.com', 'a.da@outlook.com'],
  ['ada+1@example.com', 'ada+1@example.com'],
  ['Ada@Example.com', 'ada@example.com'],
  ['+ada@gmail.com', '+ada@gmail.com'],
] as const)('%s reaches the mailbox %s', ([address, mailbox]) => {
  expect(mailboxOf(address)).toBe(mailbox)
})
