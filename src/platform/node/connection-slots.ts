import type { Socket } from 'node:net'
import type { Share } from '../share.ts'

/** The connections of one client, or all of them. */
class Group {
  readonly max: number
  count = 0
  /** In the order in which they became idle. */
  readonly idle = new Set<ConnectionSlot>()

  constructor(max: number) {
    this.max = max
  }
}

/** The place of one connection. */
export class ConnectionSlot {
  readonly socket: Socket
  readonly client: string | undefined
  /** Where it counts; nowhere any more once it has left. */
  readonly groups: Group[]

  constructor(socket: Socket, client: string | undefined, groups: Group[]) {
    this.socket = socket
    this.client = client
    this.groups = groups
  }

  /** A request of it is being answered now. */
  busy(): void {
    for (const { idle } of this.groups) idle.delete(this)
  }

  idle(): void {
    for (const { idle } of this.groups) idle.add(this)
  }
}

/** All connections that may be open, and each client's share of them. */
export class ConnectionSlots {
  readonly #all: Group
  readonly #ofClients = new Map<string, Group>()

  constructor(max: number) {
    this.#all = new Group(max)
  }

  /**
   * A place for a new connection, which is idle at first; undefined when there is none. When the client's
   * share, or all, is taken, the connection that has been idle for longest is closed for it.
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

  /** Does nothing when it has left before. */
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
