import { appendsAtOnce } from './at-once-contract.ts'
import {
  confirmedSignups,
  decisions,
  endsOfPending,
  pendingSignups,
} from './confirmation-contract.ts'
import type { ContractTest } from './contract.ts'
import { frozenBatches, sharedBatches } from './delivery-log-contract.ts'
import { markers } from './delivery-log-markers-contract.ts'
import { erasedSignups, laterSignups } from './erasure-contract.ts'
import { removalTests, tombstoneTests } from './erasure-tombstones-contract.ts'
import { importedSignups } from './import-log-contract.ts'
import { acceptedSignups, usedTokens } from './intake-log-contract.ts'
import { duplicateSignups } from './intake-log-duplicates-contract.ts'
import { keyNameSpaces, repeatedRequests } from './intake-log-keys-contract.ts'
import { newTabsByClient, numberOfTabs } from './intake-log-tabs-contract.ts'
import { fairTurns, limitedMails, sentMessages } from './outbox-contract.ts'
import { erasedSuspects, heldSignups, releasedSignups } from './quarantine-contract.ts'
import { readerTests } from './reader-contract.ts'
import { recentSignups } from './recent-contract.ts'
import { retentionTests } from './retention-contract.ts'
import { seats } from './seats-contract.ts'
import { messagesAgain, readMessages, replayedMessages } from './webhook-log-contract.ts'
import { messagesTogether } from './webhook-together-contract.ts'

/** All lists of contract tests by name, except the list of the call ledger. */
export const contracts: Readonly<Record<string, readonly ContractTest[]>> = {
  'intake log: accepted signups': acceptedSignups,
  'intake log: used challenge tokens': usedTokens,
  'intake log: duplicates': duplicateSignups,
  'intake log: repeated requests': repeatedRequests,
  'intake log: name spaces of idempotency keys': keyNameSpaces,
  'intake log: the number of tabs': numberOfTabs,
  'intake log: new tabs of one client': newTabsByClient,
  'intake log: two instances append at once': appendsAtOnce,
  'intake log: seats': seats,
  'delivery log: batches': frozenBatches,
  'delivery log: two instances': sharedBatches,
  'delivery log: markers and running time': markers,
  'erasure: erased signups': erasedSignups,
  'erasure: later signups of forgotten people': laterSignups,
  'erasure: tombstones': tombstoneTests,
  'erasure: removals from the spreadsheet': removalTests,
  'import log': importedSignups,
  'quarantine: held signups': heldSignups,
  'quarantine: released signups': releasedSignups,
  'quarantine: erased signups': erasedSuspects,
  'confirmation: pending signups': pendingSignups,
  'confirmation: ends of pending signups': endsOfPending,
  'confirmation: confirmed signups': confirmedSignups,
  'confirmation: decisions': decisions,
  'outbox: messages': sentMessages,
  'outbox: limits': limitedMails,
  'outbox: turns': fairTurns,
  'webhooks: messages': readMessages,
  'webhooks: messages tried again': messagesAgain,
  'webhooks: replays': replayedMessages,
  'webhooks: one message of many': messagesTogether,
  retention: retentionTests,
  reader: readerTests,
  'reader: recent signups': recentSignups,
}
