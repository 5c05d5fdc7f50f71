import { type Answer, json } from '../http/answer.ts'
import { refuse } from '../http/refuse.ts'
import type { Millis, Receipt, SignupId } from '../signup/signup.ts'
import type { SignupStatusAnswer } from '../signup/wire.ts'

type StoredSignup = Receipt & {
  readonly writtenAt?: Millis | undefined
  /** Set while it is beside the list. */
  readonly beside?: 'pending' | 'expired'
}

/**
 * `GET /api/signup/:id`: the state of a signup, without personal data.
 *
 * @throws Refusal 404 when there is no such signup
 */
export async function signupStatus(
  id: string,
  find: (id: SignupId) => Promise<StoredSignup | undefined>,
): Promise<Answer> {
  const signup = await find(id.toLowerCase() as SignupId)
  if (!signup) throw refuse.noSuchSignup()
  const { sheetTab, receivedAt, writtenAt, beside } = signup
  const body: SignupStatusAnswer = {
    id: signup.id,
    status: beside ?? (writtenAt === undefined ? 'accepted' : 'written'),
    sheetTab,
    receivedAt: new Date(receivedAt).toISOString(),
    ...(writtenAt !== undefined && { writtenAt: new Date(writtenAt).toISOString() }),
  }
  return json('ok', body)
}
