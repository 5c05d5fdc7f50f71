/** Common mail domains, which people often mistype. */
const common =
  'gmail.com googlemail.com yahoo.com hotmail.com outlook.com icloud.com protonmail.com ' +
  'yahoo.co.uk hotmail.co.uk yahoo.fr hotmail.fr orange.fr wanadoo.fr libero.it t-online.de ' +
  'yandex.ru naver.com comcast.net'
/** Real domains that look like a typing error. */
const real = 'mail.com email.com ymail.com'

/** The address that was probably meant: `ada@gmail.com` for `ada@gmial.con`. */
export function suggestEmail(typed: string): string | undefined {
  const [, local, domain = ''] = /^(.+@)([^@]+)$/.exec(typed.trim().toLowerCase()) ?? []
  const domains = common.split(' ')
  if (!local || [...domains, ...real.split(' ')].includes(domain)) return undefined
  const [name, ending] = halves(domain)
  const meant = domains.find((candidate) => {
    const [otherName, otherEnding] = halves(candidate)
    return isOneSlip(name, otherName) && isOneSlip(ending, otherEnding)
  })
  return meant && typed.trim().slice(0, local.length) + meant
}

function halves(domain: string): readonly [string, string] {
  const [name = '', ...ending] = domain.split('.')
  return [name, ending.join('.')]
}

/** Whether two texts are equal, or differ by one letter added, missing, wrong, or swapped with its neighbour. */
function isOneSlip(one: string, other: string): boolean {
  let start = 0
  while (start < one.length && one[start] === other[start]) start++
  let end = 0
  const endMax = Math.min(one.length, other.length) - start
  while (end < endMax && one.at(-1 - end) === other.at(-1 - end)) end++
  const rest = one.slice(start, one.length - end)
  const otherRest = other.slice(start, other.length - end)
  if (rest.length < 2 && otherRest.length < 2) return true
  return rest.length === 2 && rest === `${otherRest.charAt(1)}${otherRest.charAt(0)}`
}
