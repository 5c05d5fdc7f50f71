import { createHmac, hash } from 'node:crypto'
import type { Digest, Hmac } from '../digest.ts'

export const sha256: Digest = (text) => hash('sha256', text, 'base64')

export const hmacWith =
  (key: Uint8Array): Hmac =>
  (text) =>
    createHmac('sha256', key).update(text).digest('base64url')
