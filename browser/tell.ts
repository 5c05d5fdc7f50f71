const told = new Set<string>()

/** Writes a line into the console for the page's author, once. */
export function tell(text: string): void {
  if (!told.has(text)) console.error(`Rollcall: ${text}`)
  told.add(text)
}
