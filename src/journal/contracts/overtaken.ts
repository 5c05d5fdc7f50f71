/** Another writer on the same journal has frozen or ended a batch meanwhile. Nothing was changed. */
export class Overtaken extends Error {
  override readonly name = 'Overtaken'
}
