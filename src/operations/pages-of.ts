import { setImmediate as nextTurn } from 'node:timers/promises'
import type { BesideList, Confirmation } from '../journal/contracts/confirmation.ts'

/** What comes after a position, page by page. Requests and signals are heard between two pages. */
export async function* pagesOf<T extends { readonly position: number }>(
  max: number,
  pageAfter: (after: number) => readonly T[] | Promise<readonly T[]>,
): AsyncGenerator<readonly T[]> {
  for (let after = 0; ;) {
    const page = await pageAfter(after)
    yield page
    if (page.length < max) return
    after = page.at(-1)?.position ?? after
    await nextTurn()
  }
}

/** All that is kept about a person beside the list, page by page. */
export async function* besideOf(
  confirmation: Confirmation,
  address: string,
): AsyncGenerator<BesideList> {
  for (let page: BesideList | undefined; !page || page.next;) {
    page = await confirmation.ofPerson(address, page?.next)
    yield page
    await nextTurn()
  }
}
