import type { Events } from '../ops/events.ts'
import type { AllowedOrigins } from './origin.ts'
import { thanksPath } from './pages.ts'
import { redirectLocation, redirectOrigin } from './redirect.ts'
import { seeOther } from './respond.ts'

export interface FormPostOptions {
  readonly allowedOrigins: AllowedOrigins
  readonly events: Events
}

/**
 * After a person's form was taken: on to where the form says, or to the thank-you page, which a
 * reload then loads again without another signup.
 *
 * @param redirect as it was sent
 * @param ownOrigin the origin under which the visitor sees us
 */
export function sendOn(
  redirect: string | undefined,
  ownOrigin: string,
  { allowedOrigins, events }: FormPostOptions,
): Response {
  if (redirect === undefined) return seeOther(thanksPath)
  const location = redirectLocation(redirect, { ownOrigin, allowedOrigins })
  if (location === undefined) events.redirectNotFollowed(redirectOrigin(redirect, ownOrigin))
  return seeOther(location ?? thanksPath)
}
