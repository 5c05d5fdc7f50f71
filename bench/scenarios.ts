import type { Scenario } from './scenario.ts'
import { acceptingScenarios } from './scenarios/accepting.ts'
import { adminScenarios } from './scenarios/admin.ts'
import { backgroundPostgresScenario } from './scenarios/background-postgres.ts'
import { backgroundScenarios } from './scenarios/background.ts'
import { backlogScenarios } from './scenarios/backlog.ts'
import { backupScenarios } from './scenarios/backup.ts'
import { bulkScenario } from './scenarios/bulk.ts'
import { challengeScenario } from './scenarios/challenge.ts'
import { confirmationScenario } from './scenarios/confirmation.ts'
import { deliveryScenarios } from './scenarios/delivery.ts'
import { forgetScenarios } from './scenarios/forget.ts'
import { importScenarios } from './scenarios/import.ts'
import { largeJournalScenario, startScenario } from './scenarios/large-journal.ts'
import { latencyScenarios } from './scenarios/latency.ts'
import { memoryScenario } from './scenarios/memory.ts'
import { metricsScenario } from './scenarios/metrics.ts'
import { postgresScenarios } from './scenarios/postgres.ts'
import { sitesScenarios } from './scenarios/sites.ts'
import { stayScenarios } from './scenarios/stays.ts'
import { webhookScenarios } from './scenarios/webhooks.ts'

/** All scenarios, in the order of the table. */
export const scenarios: readonly Scenario[] = [
  ...acceptingScenarios,
  challengeScenario,
  confirmationScenario,
  bulkScenario,
  metricsScenario,
  ...adminScenarios,
  ...latencyScenarios,
  largeJournalScenario,
  ...deliveryScenarios,
  ...backlogScenarios,
  ...backgroundScenarios,
  backgroundPostgresScenario,
  memoryScenario,
  ...importScenarios,
  ...backupScenarios,
  ...forgetScenarios,
  ...postgresScenarios,
  ...sitesScenarios,
  ...webhookScenarios,
  startScenario,
  ...stayScenarios,
]
