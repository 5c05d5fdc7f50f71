/** Endings of domains that are taken for a link by themselves: common ones, and no particle of a name. */
const alone = 'com|net|org|info|biz|ru|su|рф|xyz|icu|top|click|link|online|site|website|shop|store'
/** Endings that are taken for one with a path behind them: of shorteners, and of many countries. */
const withPath = `${alone}|ly|me|cc|gl|gd|to|co|io|im|ph|pw|tk|ml|ga|cf|gq|ws|app|dev|page|live|vip|club|de|uk|fr|eu|us|nl|pl|it|es|br|in|cn|jp`

/**
 * A scheme, `www.`, or a domain. Endings count in small letters only: phones write a capital letter after a
 * dot, and so do people (`St.John`, `ASP.NET`). Every part has a bounded length, so it takes linear time.
 */
const link = new RegExp(
  String.raw`\p{L}:\/\/[^\s/]|(?<![\p{L}\p{N}])[wW]{3}\.[\p{L}\p{N}]|` +
    String.raw`[\p{L}\p{N}]\.(?:(?:${withPath})\/[^\s/]|(?:${alone})(?![\p{L}\p{N}-]))`,
  'u',
)

/** A label of a domain has at most 63 characters. */
const address = /[\p{L}\p{N}_%+-]@[\p{L}\p{N}][\p{L}\p{N}-]{0,62}\.[\p{L}\p{N}]/u

/** Whether the text has something in it that is a link beyond doubt: rather none than one too many. */
export function hasLink(text: string): boolean {
  return (text.includes('.') || text.includes('://')) && link.test(text)
}

/** Whether the text has an email address in it. */
export function hasAddress(text: string): boolean {
  return text.includes('@') && address.test(text)
}
