import type { Appended } from '../../src/journal/contracts/intake-log.ts'
import type { AppendRequest } from '../../src/journal/tables/intake.ts'
import { OutcomeUnknown } from '../../src/journal/contracts/errors.ts'
import type { HttpClient } from '../../src/platform/http-client.ts'
import { signupIds } from '../../src/signup/id.ts'
import type { Signup } from '../../src/signup/signup.ts'
import { changed } from '../../harness/changed.ts'
import { textOf } from './read-batch.ts'
import type { Flaw } from './simulated/process-options.ts'

/** The answer to signups as if they were in the journal. */
function madeOf(signups: readonly Signup[]): Appended {
  const results = signups.map(({ id, receivedAt, sheetTab }) => ({
    ...{ id, receivedAt, sheetTab },
    position: 1,
  }))
  return { kind: 'appended', results }
}

/**
 * Planted bugs, each of which breaks a promise: the simulation has to find every one. A bug changes
 * what a process is built from, never the sources.
 */
export const flaws: Readonly<Record<string, Flaw>> = {
  'a visitor is answered before the signup is in the journal': {
    intake: (intake) =>
      changed(intake, {
        async append(signups, terms) {
          void intake.append(signups, terms).catch(() => undefined)
          return madeOf(signups)
        },
      }),
  },
  'a repeated request is stored again': {
    intake: (intake) =>
      changed(intake, {
        recall: async () => undefined,
        append: (signups) => intake.append(signups),
      }),
  },
  'a batch is sent without its marker': {
    http:
      (http): HttpClient =>
      (request) => {
        const body = textOf(request).replace(/\{"createDeveloperMetadata".*?\}\}\},/, '')
        return http(request.body === undefined ? request : { ...request, body })
      },
  },
  'a retry has a new marker': {
    spreadsheet: (spreadsheet) => {
      const tries = new Map<number, number>()
      return changed(spreadsheet, {
        write(batch, signal) {
          const attempt = (tries.get(batch.number) ?? 0) + 1
          tries.set(batch.number, attempt)
          return spreadsheet.write({ ...batch, marker: batch.marker + 1000 * attempt }, signal)
        },
      })
    },
  },
  'the cursor moves before the spreadsheet has confirmed': {
    spreadsheet: (spreadsheet, journal) =>
      changed(spreadsheet, {
        async write(batch, signal) {
          await journal.settle(batch.number, batch.number)
          return spreadsheet.write(batch, signal)
        },
      }),
  },
  'a restart unfreezes the batch that was left': {
    async onStart(journal) {
      const left = await journal.frozenBatch()
      if (left) await journal.release(left)
    },
  },
  'markers are pruned as soon as their batch has ended': {
    spreadsheet: (spreadsheet, journal) =>
      changed(spreadsheet, {
        async write(batch, signal) {
          const outcome = await spreadsheet.write(batch, signal)
          const ended = await journal.endedMarkers()
          await spreadsheet.prune(
            ended.map(({ id }) => id),
            signal,
          )
          return outcome
        },
      }),
  },
}

/** Bugs that do harm only when a process is stopped for long and then goes on. */
export const flawsOfStopped: Readonly<Record<string, Flaw>> = {
  'the marker of a batch that another process froze lives no longer than others': {
    journal: (journal) =>
      changed(journal, {
        async noteFound() {},
      }),
  },
}

type Group = readonly AppendRequest[]
type Append = (group: Group) => Promise<readonly (Appended | undefined)[]>

/** Appends a group. `after` is called when the answer was lost. */
async function settledBy(group: Group, append: Append, after: () => ReturnType<Append>) {
  const outcomes = new Map<AppendRequest, Appended>()
  const answers = await append(group).catch((error: unknown) => {
    if (!(error instanceof OutcomeUnknown)) throw error
    return after()
  })
  group.forEach((request, index) => {
    const answer = answers[index]
    if (answer) outcomes.set(request, answer)
  })
  return { outcomes, failure: undefined }
}

/** Bugs of instances that share a store. */
export const flawsOfShared: Readonly<Record<string, Flaw>> = {
  'an append without an answer counts as made': {
    settle: (_store, _clock, group, append) =>
      settledBy(group, append, async () => group.map(({ signups }) => madeOf(signups))),
  },
  'an append without an answer is made again with new ids': {
    settle: (_store, _clock, group, append) =>
      settledBy(group, append, () => {
        const newId = signupIds()
        return append(
          group.map(({ signups }) => ({
            signups: signups.map((signup) => ({ ...signup, id: newId(signup.receivedAt) })),
            terms: {},
          })),
        )
      }),
  },
  'an instance without the lease delivers': {
    lease: (lease) =>
      changed(lease, {
        async hold() {
          const tenure = await lease.hold()
          return tenure.kind === 'held' ? tenure : { kind: 'held', term: 1, forMs: 5000 }
        },
      }),
  },
  'a lease that another instance has is never asked for again': {
    lease: (lease) => {
      let isElsewhere = false
      return changed(lease, {
        async hold() {
          if (isElsewhere) return { kind: 'elsewhere' }
          const tenure = await lease.hold()
          isElsewhere = tenure.kind === 'elsewhere'
          return tenure
        },
      })
    },
  },
  'an instance trusts its lease for longer than it lives': {
    lease: (lease) =>
      changed(lease, {
        async hold() {
          const tenure = await lease.hold()
          return tenure.kind === 'held' ? { ...tenure, forMs: 60_000 } : tenure
        },
      }),
  },
}
