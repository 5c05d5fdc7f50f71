import type { Socket } from 'node:net'
import type { Share } from '../share.ts'

/** The connections of one client, or of all clients. */
interface Group {
  readonly max: number
  count: number
  /** The idle connections, longest idle first. */
  readonly idle: Set<ConnectionSlot>
}

/** The place of one connection. */
export interface ConnectionSlot {
  readonly socket: Socket
  /** Call when a request of this connection is being answered. */
  busy(): void
  idle(): void
  /** Gives the place back. A second call does nothing. */
  leave(): void
}

/** Limits how many connections are open, in total and for each client. */
export class ConnectionSlots {
  readonly #all: Group
  readonly #ofClients = new Map<string | undefined, Group>()

  constructor(max: number) {
    this.#all = groupOf(max)
  }

  /**
   * Gives a place to a new connection, which starts idle. When the client's share or the total is used
   * up, the longest idle connection is closed first. Returns undefined when no connection is idle.
   */
  admit(socket: Socket, share: Share | undefined): ConnectionSlot | undefined {
    const own =
      share && (this.#ofClients.get(share.client) ?? groupOf(Math.ceil(share.part * this.#all.max)))
    const groups = own ? [own, this.#all] : [this.#all]
    for (const { count, max, idle } of groups) {
      if (count < max) continue
      const [longestIdle] = idle
      if (!longestIdle) return undefined
      longestIdle.leave()
      longestIdle.socket.destroy()
    }
    if (own) this.#ofClients.set(share.client, own)
    for (const group of groups) group.count++
    const slot: ConnectionSlot = {
      socket,
      busy: () => groups.forEach(({ idle }) => idle.delete(slot)),
      idle: () => groups.forEach(({ idle }) => idle.add(slot)),
      leave: () => {
        slot.busy()
        for (const group of groups.splice(0)) {
          group.count--
          if (group === own && group.count === 0) this.#ofClients.delete(share?.client)
        }
      },
    }
    slot.idle()
    return slot
  }
}

function groupOf(max: number): Group {
  return { max, count: 0, idle: new Set() }
}
