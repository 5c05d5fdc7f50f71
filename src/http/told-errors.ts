/** One for each signup of a bulk request of the usual size. */
const errorsMax = 1_000
/** In UTF-16 units, of names and messages together. */
const charactersMax = 30_000

/** Chooses the errors that one answer tells: the first ones. An answer must not be much larger than its request. */
export class ToldErrors {
  #count = 0
  #characters = 0
  #leftOut = 0

  get leftOut(): number {
    return this.#leftOut
  }

  take<It extends Readonly<Record<'field' | 'message', string>>>(
    errors: readonly It[],
  ): readonly It[] {
    const told = errors.filter(({ field, message }) => {
      this.#count += 1
      this.#characters += field.length + message.length
      return this.#count <= errorsMax && this.#characters <= charactersMax
    })
    this.#leftOut += errors.length - told.length
    return told
  }
}
