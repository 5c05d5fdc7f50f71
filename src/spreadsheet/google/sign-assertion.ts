import { importPKCS8, SignJWT } from 'jose'

/** The claims by which a service account gets an access token (RFC 7523). */
export interface AssertionClaims {
  readonly issuer: string
  readonly audience: string
  readonly scope: string
  /** Seconds since the Unix epoch. */
  readonly issuedAt: number
  /** Seconds since the Unix epoch. */
  readonly expiresAt: number
}

/** Makes a signed JWT from the claims. It is passed in, so that a simulation need not sign. */
export type SignAssertion = (claims: AssertionClaims) => Promise<string>

/** @param privateKey RSA, PKCS#8 PEM. */
export function signWith(privateKey: string): SignAssertion {
  return async ({ issuer, audience, scope, issuedAt, expiresAt }) =>
    new SignJWT({ scope })
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT' })
      .setIssuer(issuer)
      .setAudience(audience)
      .setIssuedAt(issuedAt)
      .setExpirationTime(expiresAt)
      .sign(await importPKCS8(privateKey, 'RS256'))
}
