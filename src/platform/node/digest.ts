import { hash } from 'node:crypto'
import type { Digest } from '../digest.ts'

export const sha256: Digest = (text) => hash('sha256', text, 'base64')
