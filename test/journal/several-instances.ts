import type { Journal } from '../../src/journal/contracts/journal.ts'
import { type CreateWorld, noteEarlier, nth } from './contracts/contract.ts'

/**
 * The same world, but opening its journal opens several instances on one store, as several processes do.
 * Calls of methods go to them in turn. A listener listens to all.
 */
export function withInstances(count: number, createWorld: CreateWorld): CreateWorld {
  return async () => {
    const world = await createWorld()
    return {
      async open(policy) {
        const first = await world.open(policy)
        const others: Journal[] = []
        while (others.length < count - 1) others.push(await world.open(policy))
        const journal = inTurns(first, others)
        noteEarlier(journal, nth(first, 0))
        return journal
      },
      [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
    }
  }
}

function inTurns(first: Journal, others: readonly Journal[]): Journal {
  const all = [first, ...others]
  let turn = 0
  const next = () => (turn = (turn + 1) % all.length)
  const each = <T extends object>(part: (journal: Journal) => T) =>
    spread(part(first), all.map(part), next)
  return {
    intake: each(({ intake }) => intake),
    imports: each(({ imports }) => imports),
    delivery: each(({ delivery }) => delivery),
    erasure: each(({ erasure }) => erasure),
    retention: each(({ retention }) => retention),
    quarantine: each(({ quarantine }) => quarantine),
    confirmation: each(({ confirmation }) => confirmation),
    outbox: each(({ outbox }) => outbox),
    webhooks: each(({ webhooks }) => webhooks),
    compared: each(({ compared }) => compared),
    reader: each(({ reader }) => reader),
    // It belongs to one instance.
    lease: first.lease,
    callLedger: (...account) => each((journal) => journal.callLedger(...account)),
    linkKey: first.linkKey,
    keyFor: (use) => first.keyFor(use),
    [Symbol.asyncDispose]: async () => {
      for (const journal of all) await journal[Symbol.asyncDispose]()
    },
  }
}

function spread<T extends object>(first: T, parts: readonly T[], next: () => number): T {
  return new Proxy(first, {
    get(_, name) {
      const isListening = name === 'onAppend' || name === 'onSettle'
      const target = isListening ? first : (parts[next()] ?? first)
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      if (!isListening) return value.bind(target) as unknown
      return (listener: unknown) => {
        const stops = parts.map((part) =>
          (Reflect.get(part, name, part) as (heard: unknown) => () => void).call(part, listener),
        )
        return () => {
          for (const stop of stops) stop()
        }
      }
    },
  })
}
