/**
 * The fields that may carry the challenge token, the first one that is there counts: ours, and those
 * that the widgets of Turnstile, hCaptcha and reCAPTCHA put into a form by themselves. (hCaptcha's
 * fills the last one, too.)
 */
export const tokenFields = [
  'challengeToken',
  'cf-turnstile-response',
  'h-captcha-response',
  'g-recaptcha-response',
] as const
