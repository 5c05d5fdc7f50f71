import type { Journal } from '../../src/journal/journal.ts'
import type { CreateWorld } from './contract.ts'

/**
 * The same world, but opening its journal opens two instances on one store, as two processes do. Calls
 * of methods go to the two in turn. A listener listens to both.
 */
export function withTwoInstances(createWorld: CreateWorld): CreateWorld {
  return async () => {
    const world = await createWorld()
    return {
      open: async (policy) => alternating([await world.open(policy), await world.open(policy)]),
      [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
    }
  }
}

type Pair = readonly [Journal, Journal]

function alternating(pair: Pair): Journal {
  let turn = 0
  const next = () => (turn = 1 - turn)
  const [one, other] = pair
  return {
    intake: inTurns(one.intake, other.intake, next),
    imports: inTurns(one.imports, other.imports, next),
    delivery: inTurns(one.delivery, other.delivery, next),
    erasure: inTurns(one.erasure, other.erasure, next),
    retention: inTurns(one.retention, other.retention, next),
    reader: inTurns(one.reader, other.reader, next),
    // It belongs to one instance.
    lease: one.lease,
    callLedger: (...account) =>
      inTurns(one.callLedger(...account), other.callLedger(...account), next),
    [Symbol.asyncDispose]: async () => {
      await one[Symbol.asyncDispose]()
      await other[Symbol.asyncDispose]()
    },
  }
}

function inTurns<T extends object>(one: T, other: T, next: () => number): T {
  return new Proxy(one, {
    get(_, name) {
      const isListening = name === 'onAppend' || name === 'onSettle'
      const target = isListening || next() === 0 ? one : other
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      if (!isListening) return value.bind(target) as unknown
      return (listener: unknown) => {
        const stops = [one, other].map((part) =>
          (Reflect.get(part, name, part) as (heard: unknown) => () => void).call(part, listener),
        )
        return () => {
          for (const stop of stops) stop()
        }
      }
    },
  })
}
