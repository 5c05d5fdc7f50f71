import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { EmulatorOptions } from '../emulators/google-sheets/emulator.ts'
import { startLoopbackServer } from '../emulators/loopback-server.ts'
import { createGoogleWorld } from './google-world.ts'
import { tempFolder } from './temp-folder.ts'

export const sheetsScope = 'https://www.googleapis.com/auth/spreadsheets'
const platformScope = 'https://www.googleapis.com/auth/cloud-platform'

/** What must never be printed, besides tokens and keys. */
export const secrets = {
  refreshToken: '1//refresh-token-of-ada',
  clientSecret: 'GOCSPX-client-secret',
  proof: 'eyJhbGciOiJSUzI1NiJ9.proof-of-the-workload',
  awsKey: 'aws-secret-access-key',
} as const

/** What a server of a cloud says of the workload on it, by method and path. */
const cloudAnswers: Readonly<Record<string, string>> = {
  'GET /proof': JSON.stringify({ access_token: secrets.proof }),
  'PUT /session': 'the-session',
  'GET /region': 'eu-central-1b',
  'GET /roles': 'the-role',
  'GET /roles/the-role': JSON.stringify({
    ...{ AccessKeyId: 'AKIA', SecretAccessKey: secrets.awsKey, Token: 'aws-session-token' },
  }),
}

/** An emulated Google with an identity for each way to sign in without a key, and their credentials files. */
export async function createSignInWays(options: EmulatorOptions = {}) {
  const google = await createGoogleWorld(options)
  const { emulator } = google
  const { tokens: office } = emulator
  const cloud = await startLoopbackServer(async ({ method = '', url = '' }, response) => {
    const { [`${method} ${url}`]: answer } = cloudAnswers
    response.writeHead(answer === undefined ? 404 : 200, { 'Content-Type': 'text/plain' })
    response.end(answer)
  })
  const folder = await tempFolder()
  const { email: robot } = emulator.createServiceAccount(
    'keyless@my-project.iam.gserviceaccount.com',
  )
  const person = 'ada@example.com'
  office.registerIdentity({
    ...{ email: person, secret: secrets.refreshToken, scopes: [sheetsScope, platformScope] },
  })
  office.registerIdentity({ email: 'workload', secret: secrets.proof })
  office.registerIdentity({ email: 'workload-of-aws', secret: 'Action=GetCallerIdentity' })
  office.machine = 'machine@my-project.iam.gserviceaccount.com'
  for (const actor of [person, 'workload', 'workload-of-aws']) office.allow(actor, robot)
  const fileAt = async (name: string, content: unknown) => {
    const path = join(folder.path, name)
    await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content))
    return path
  }
  const pool = poolOf(emulator.url, robot)
  const files = filesFor(pool, cloud.url, await fileAt('proof', secrets.proof))
  return {
    ...{ google, emulator, office, folder: folder.path, files, fileAt, pool },
    ...{ robot, person, machine: office.machine },
    shareWith: (email: string) => emulator.createSpreadsheet({ sharedWith: email }).id,
    /** Settings that lead to the emulated metadata server, and to no file of the real machine. */
    env: { GCE_METADATA_HOST: new URL(emulator.url).host, HOME: folder.path },
    async [Symbol.asyncDispose]() {
      await cloud.stop()
      await google[Symbol.asyncDispose]()
      await folder[Symbol.asyncDispose]()
    },
  }
}

export type SignInWays = Awaited<ReturnType<typeof createSignInWays>>

/** Makes credentials files of a workload that acts as a service account. */
function poolOf(googleUrl: string, email: string) {
  const accounts = `${googleUrl}/v1/projects/-/serviceAccounts`
  return (credentialSource: unknown) => ({
    type: 'external_account',
    audience:
      '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/a/providers/b',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    token_url: `${googleUrl}/v1/token`,
    service_account_impersonation_url: `${accounts}/${email}:generateAccessToken`,
    credential_source: credentialSource,
  })
}

function filesFor(pool: ReturnType<typeof poolOf>, cloudUrl: string, proofFile: string) {
  const user = {
    ...{ type: 'authorized_user', client_id: 'the-client', client_secret: secrets.clientSecret },
    refresh_token: secrets.refreshToken,
  }
  const { service_account_impersonation_url: url } = pool({})
  const type = 'impersonated_service_account'
  return {
    user,
    impersonated: { type, service_account_impersonation_url: url, source_credentials: user },
    poolFile: pool({ file: proofFile }),
    poolUrl: pool({
      url: `${cloudUrl}/proof`,
      format: { type: 'json', subject_token_field_name: 'access_token' },
    }),
    aws: pool({
      environment_id: 'aws1',
      region_url: `${cloudUrl}/region`,
      url: `${cloudUrl}/roles`,
      imdsv2_session_token_url: `${cloudUrl}/session`,
      regional_cred_verification_url:
        'https://sts.{region}.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15',
    }),
  }
}
