import type { Lease } from '../contracts/lease.ts'

/** The service that has locked `DATA_DIR` is the only one, so it always holds the lease. */
export const ownLease: Lease = {
  hold: async () => ({ kind: 'held', term: 1, forMs: Infinity }),
  release: async () => undefined,
}
