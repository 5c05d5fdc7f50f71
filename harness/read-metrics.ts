/** The token of the services that tests start with metrics. */
export const metricsToken = 'a-token-of-the-tests-0123456789'

/** The settings with which a service has metrics. */
export const withMetrics = { METRICS_TOKEN: metricsToken } as const

/** The metrics of a service as text. @throws Error when it does not give them */
export async function metricsText(url: string): Promise<string> {
  const answer = await fetch(`${url}/metrics`, {
    headers: { authorization: `Bearer ${metricsToken}` },
  })
  if (answer.status !== 200) throw new Error(`/metrics was answered ${answer.status}`)
  return answer.text()
}

/** The values of all series, by name and labels as they are written, such as `a_total{site="news"}`. */
export function valuesIn(text: string): ReadonlyMap<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => {
      const end = line.lastIndexOf(' ')
      return [line.slice(0, end), Number(line.slice(end + 1))]
    }),
  )
}

/** The values of all series of a service. */
export async function readMetrics(url: string): Promise<ReadonlyMap<string, number>> {
  return valuesIn(await metricsText(url))
}
