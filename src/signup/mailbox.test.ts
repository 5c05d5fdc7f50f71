import { expect, test } from 'vitest'
import { mailboxOf } from './mailbox.ts'

test.for([
  ['Ada.Love+news@Gmail.com', 'adalove@gmail.com'],
  ['a.d.a@googlemail.com', 'ada@gmail.com'],
  ['a_da@gmail.com', 'a_da@gmail.com'],
  ['A.d-a_1+news@protonmail.com', 'ada1@proton.me'],
  ['ada1@pm.me', 'ada1@proton.me'],
  ['ada+1@me.com', 'ada@icloud.com'],
  ['a.da@icloud.com', 'a.da@icloud.com'],
  ['ada+1@ya.ru', 'ada@yandex.ru'],
  ['ada@yandex.kz', 'ada@yandex.ru'],
  ['news@ada.fastmail.com', 'ada@fastmail.com'],
  ['a+b@ada.sent.com', 'ada@sent.com'],
  ['ada@sent.com', 'ada@sent.com'],
  ['ada@fastmail.com', 'ada@fastmail.com'],
  ['news@ada.notfastmail.com', 'news@ada.notfastmail.com'],
  ['ada+1@outlook.com', 'ada@outlook.com'],
  ['ada+1+2@outlook.com', 'ada@outlook.com'],
  ['ada+1@hotmail.co.uk', 'ada@hotmail.co.uk'],
  ['ada@gmx.net', 'ada@gmx.net'],
  ['ada+1@company.example', 'ada@company.example'],
  ['a.da@Company.example', 'a.da@company.example'],
  ['+ada@gmail.com', '+ada@gmail.com'],
] as const)('%s reaches the mailbox %s', ([address, mailbox]) => {
  expect(mailboxOf(address)).toBe(mailbox)
})
