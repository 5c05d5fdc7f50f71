/**
 * The fields that may carry the challenge token: our own, and those that the widgets of Turnstile,
 * hCaptcha and reCAPTCHA add to a form. The first field present counts. (hCaptcha's widget fills the
 * last one, too.)
 */
export const tokenFields = [
  'challengeToken',
  'cf-turnstile-response',
  'h-captcha-response',
  'g-recaptcha-response',
] as const
