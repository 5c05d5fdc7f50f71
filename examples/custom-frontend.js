/**
 * A signup form without embed.js: what to ask of Rollcall, and what to make of its answers. The
 * whole interface is in docs/api.md.
 */
const server = 'http://localhost:3000'
const form = document.querySelector('#signup')
const email = document.querySelector('#email')
const problem = document.querySelector('#problem')
const message = document.querySelector('#message')

/** What each provider of a challenge looks for in the page, and calls itself there. */
const challenges = {
  turnstile: { className: 'cf-turnstile', global: 'turnstile' },
  hcaptcha: { className: 'h-captcha', global: 'hcaptcha' },
  recaptcha: { className: 'g-recaptcha', global: 'grecaptcha' },
}
let challenge
/** The proof of work, which this page solves while somebody types. */
let puzzle

/** One for each signup, and the same for each try: however often it arrives, it is one row. */
let key = crypto.randomUUID()
form.addEventListener('input', () => {
  key = crypto.randomUUID()
})

form.addEventListener('submit', async (event) => {
  event.preventDefault()
  const button = event.submitter
  button.disabled = true
  tell('')
  try {
    await signUp()
  } catch {
    tell('There is no answer just now. Please try again: you will not be signed up twice.')
  }
  button.disabled = false
})

showChallenge().catch(() => tell('The settings could not be read. Please reload the page.'))

async function signUp() {
  const challengeToken = puzzle
    ? await puzzle.token()
    : challenge && new FormData(form).get(`${challenge.className}-response`)
  const answer = await fetch(`${server}/api/signup`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key },
    body: JSON.stringify({ email: email.value, sheetTab: 'Newsletter', challengeToken }),
  })
  // A token is good for one answer.
  puzzle?.reset()
  if (challenge) window[challenge.global]?.reset()
  const body = await answer.json()
  if (answer.ok) {
    form.hidden = true
    message.textContent =
      body.status === 'pending'
        ? 'Please look into your mail, into the spam folder too, and confirm there.'
        : `Thank you! You are on the list "${body.sheetTab}".`
    return
  }
  // Every wrong field has its message; what concerns none of them is in the detail.
  const wrong = body.errors?.find(({ field }) => field === 'email')
  tell(wrong?.message ?? body.detail)
  email.ariaInvalid = wrong ? 'true' : null
  email.focus()
}

/** Bots are kept out when the service says so. The widget puts its token into a field of the form. */
async function showChallenge() {
  const config = await (await fetch(`${server}/api/config`)).json()
  if (!config.challengeEnabled) return
  if (!config.challengeSiteKey) {
    tell('Signing up is not possible just now. Please come back later.')
    return
  }
  if (config.challengeProvider === 'altcha') {
    const solver = await import(server + config.challengeScriptUrl)
    puzzle = await solver.showChallenge({ endpoint: `${server}/api/signup` })
    return
  }
  challenge = challenges[config.challengeProvider]
  const box = document.createElement('div')
  box.className = challenge.className
  box.dataset.sitekey = config.challengeSiteKey
  form.append(box)
  const script = document.createElement('script')
  script.src = config.challengeScriptUrl
  document.head.append(script)
}

function tell(text) {
  problem.textContent = text
  email.ariaInvalid = null
}
