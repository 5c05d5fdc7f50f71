/** Reads a JSON file of the service, `…/embed/NAME`. Empty when it does not come. */
export function readFile<Content>(
  name: string,
  endpoint: string,
  signal: AbortSignal | null = null,
): Promise<Partial<Content>> {
  const answer = fetch(new URL(`../embed/${name}`, endpoint), { signal })
  return answer.then((it) => it.json() as Promise<Content>).catch(() => ({}))
}
