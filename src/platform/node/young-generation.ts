import { setFlagsFromString } from 'node:v8'

/**
 * Lets V8's space for new objects grow no further, for the rest of the process. To call when all modules
 * are loaded. In a long run V8 would double it again and again, to 50 MB, although most objects of a
 * stream are garbage at once.
 */
export function keepYoungGeneration(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
}
