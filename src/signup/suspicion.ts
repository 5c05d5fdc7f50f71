/**
 * The signs of spam, each with its points. Nothing is refused for them: at `suspectPoints` a signup is
 * suspect. `docs/spam.md` has the same table.
 */
export const signalPoints = {
  /** A field that people never see was filled. */
  'hidden-field': 3,
  /** Our own form was sent within two seconds of its stamp, or its stamp is wrong or older than a day. */
  stamp: 1,
  /** The address is at a domain of throw-away addresses. */
  'disposable-domain': 2,
  /** The name has an address or a link in it. */
  'link-in-name': 2,
  /** The name and another short field have a link in them. Counts instead of `link-in-name`. */
  links: 3,
  /** One network has sent many signups within an hour. */
  'busy-network': 1,
  /** Different clients have sent one name within an hour. */
  'repeated-name': 1,
} as const

export type Signal = keyof typeof signalPoints

/** From so many points on, a signup is suspect. */
export const suspectPoints = 3
