/** What a version of the spreadsheet knew: the rows that its markers keep out. */
export type Fenced = ReadonlySet<string>

/**
 * The rows that markers keep from coming again. When a person restores an earlier version and Google
 * restores its developer metadata, too, the markers of later batches are gone, together with their rows.
 * A try of such a batch may then be applied again. That is right when its outcome was unknown.
 */
export class VersionHistory {
  /** Addresses whose rows were written and whose markers stand, or stood for their whole keepMs. */
  #fenced = new Set<string>()
  readonly #written = new Set<string>()
  /** Markers of other programs and of batches that were given up, which a restored version did not have. */
  readonly #lost = new Set<number>()
  /** Markers that were pruned, and that a restored version brought back. */
  readonly #revived = new Set<number>()

  written(email: string, marker: number | undefined): void {
    this.#written.add(email)
    if (this.#isLost(marker)) this.#fenced.delete(email)
    else this.#fenced.add(email)
  }

  save(): Fenced {
    return new Set(this.#fenced)
  }

  /** Notes that a version was restored with its metadata. Markers went, and others came back. */
  restored(fenced: Fenced, lost: Iterable<number>, revived: Iterable<number>): void {
    this.#fenced = new Set(fenced)
    for (const marker of lost) this.#lost.add(marker)
    for (const marker of revived) this.#revived.add(marker)
  }

  /**
   * Whether a row that was written may come again. A batch was given up or got another marker, because
   * nothing could apply it any more. When its old marker is lost, a late try of it can arrive after all,
   * before or after the rows came in another batch. Nothing can prevent that.
   */
  mayComeAgain(email: string, marker: number | undefined): boolean {
    return this.#written.has(email) && (this.#isLost(marker) || !this.#fenced.has(email))
  }

  isRevived(marker: number): boolean {
    return this.#revived.has(marker)
  }

  #isLost(marker: number | undefined): boolean {
    return marker !== undefined && this.#lost.has(marker)
  }
}
