/** Runs the mail server in a process of its own. The parent controls it by messages. */
import { SmtpEmulator, type SmtpOptions } from './emulator.ts'
import type { Fault } from './faults.ts'

/** What the parent can ask for. */
export interface SmtpControl {
  readonly start: () => Promise<number>
  readonly stop: () => Promise<void>
  readonly mails: (from?: number) => SmtpEmulator['mails']
  readonly log: () => SmtpEmulator['log']
  readonly fault: (...faults: Fault[]) => void
  readonly clearFaults: () => void
  readonly set: (switches: Partial<Pick<SmtpEmulator, 'greylists' | 'refusesLogin'>>) => void
}

export interface Question {
  readonly id: number
  readonly name: keyof SmtpControl
  readonly values: readonly unknown[]
}

export type Answer =
  { readonly id: number; readonly value: unknown } | { readonly id: number; readonly error: string }

const emulator = new SmtpEmulator(JSON.parse(process.argv[2] ?? '') as SmtpOptions)

const control: SmtpControl = {
  start: () => emulator.start(),
  stop: () => emulator.stop(),
  mails: (from = 0) => emulator.mails.slice(from),
  log: () => emulator.log,
  fault: (...faults) => emulator.faults.add(...faults),
  clearFaults: () => emulator.faults.clear(),
  set: (switches) => void Object.assign(emulator, switches),
}

async function answer({ id, name, values }: Question): Promise<Answer> {
  try {
    const call = control[name] as (...given: readonly unknown[]) => unknown
    return { id, value: await call(...values) }
  } catch (error) {
    return { id, error: String(error) }
  }
}

process.on('message', (question: Question) => {
  void answer(question).then((it) => process.send?.(it))
})
process.once('disconnect', () => void emulator.stop())
