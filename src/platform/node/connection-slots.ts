import type { Socket } from 'node:net'
import type { Share } from '../share.ts'

/** The connections of one client, or of all clients. */
class Group {
  readonly max: number
  count = 0
  /** The idle connections, longest idle first. */
  readonly idle = new Set<ConnectionSlot>()

  constructor(max: number) {
    this.max = max
  }
}

/** The place of one connection. */
export class ConnectionSlot {
  readonly socket: Socket
  readonly client: string | undefined
  /** The groups that count this connection; empty once it has left. */
  readonly groups: Group[]

  constructor(socket: Socket, client: string | undefined, groups: Group[]) {
    this.socket = socket
    this.client = client
    this.groups = groups
  }

  /** Call when a request of this connection is being answered. */
  busy(): void {
    for (const { idle } of this.groups) idle.delete(this)
  }

  idle(): void {
    for (const { idle } of this.groups) idle.add(this)
  }
}

/** Limits how many connections are open, in total and for each client. */
export class ConnectionSlots {
  readonly #all: Group
  readonly #ofClients = new Map<string, Group>()

  constructor(max: number) {
    this.#all = new Group(max)
  }

  /**
   * Gives a place to a new connection, which starts idle. When the client's share or the total is used
   * up, the longest idle connection is closed first. Returns undefined when no connection is idle.
   */
  admit(socket: Socket, share: Share | undefined): ConnectionSlot | undefined {
    const own = share && this.#groupOf(share)
    const groups = own ? [own, this.#all] : [this.#all]
    for (const { count, max, idle } of groups) {
      if (count < max) continue
      const [longestIdle] = idle
      if (!longestIdle) return undefined
      this.leave(longestIdle)
      longestIdle.socket.destroy()
    }
    if (own) this.#ofClients.set(share.client, own)
    const slot = new ConnectionSlot(socket, share?.client, groups)
    for (const group of groups) group.count++
    slot.idle()
    return slot
  }

  /** Gives the place back. A second call does nothing. */
  leave(slot: ConnectionSlot): void {
    const { client, groups } = slot
    slot.busy()
    for (const group of groups.splice(0)) {
      group.count--
      if (group.count === 0 && client !== undefined && group !== this.#all) {
        this.#ofClients.delete(client)
      }
    }
  }

  #groupOf({ client, part }: Share): Group {
    return this.#ofClients.get(client) ?? new Group(Math.ceil(part * this.#all.max))
  }
}
