/** Makes the admin page nicer. It works without this script. */

const lookMs = 10_000

/** Tells each time in the zone of the browser. */
function tellLocalTimes(within: ParentNode): void {
  for (const element of within.querySelectorAll('time')) {
    const at = new Date(element.dateTime)
    element.title = `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`
    element.textContent = at.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })
  }
  const zone = document.querySelector('[data-zone]')
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  if (zone?.parentElement)
    zone.parentElement.textContent = `Times are in ${timeZone}, axes and days in UTC.`
}

/** Replaces what is marked as live with what the service shows now. */
async function look(): Promise<void> {
  if (document.visibilityState !== 'visible') return
  const response = await fetch(location.href, { headers: { 'x-rollcall-live': '1' } })
  // Without a login, the answer is another page.
  if (!response.ok || response.redirected) return
  const now = new DOMParser().parseFromString(await response.text(), 'text/html')
  for (const element of document.querySelectorAll('[data-live]')) {
    const fresh = now.getElementById(element.id)
    if (!fresh || element.contains(document.activeElement)) continue
    tellLocalTimes(fresh)
    element.replaceWith(fresh)
  }
}

/** A box above a list ticks all of its boxes. */
function offerAll(): void {
  for (const all of document.querySelectorAll<HTMLInputElement>('[data-all]')) {
    const boxes = () =>
      document.querySelectorAll<HTMLInputElement>(`input[name="${all.dataset['all'] ?? ''}"]`)
    all.hidden = false
    all.labels?.forEach((label) => (label.hidden = false))
    all.addEventListener('change', () => {
      for (const box of boxes()) box.checked = all.checked
    })
  }
}

tellLocalTimes(document)
offerAll()
if (document.querySelector('[data-live]')) {
  setInterval(() => void look().catch(() => undefined), lookMs)
}
