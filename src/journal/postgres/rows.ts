import type { Signup, SignupId } from '../../signup/signup.ts'
import type { Row } from './statement.ts'

/** The columns of a signup that `toSignup` reads. */
export const signupColumns = `signup.position, signup.id, signup.received_at, signup.email,
  signup.source, signup.name, signup.tags, signup.metadata`

export function toSignup(row: Row, sheetTab: string): Signup {
  const tags = String(row['tags'])
  return {
    id: String(row['id']) as SignupId,
    receivedAt: Number(row['received_at']),
    email: String(row['email']),
    sheetTab,
    source: String(row['source']),
    name: String(row['name']),
    tags: tags === '' ? [] : (JSON.parse(tags) as string[]),
    metadata: String(row['metadata']),
  }
}
