import type { Report } from '../src/cli/doctor.ts'
import { type CommandOptions, runCommand } from './run-command.ts'

export type DoctorFinding = Report['findings'][number]

export interface Diagnosis {
  readonly code: number | null
  readonly report: Report
  /** The findings of one check. */
  of(check: string): readonly DoctorFinding[]
  /** The names of the checks that found a fault. */
  readonly faults: readonly string[]
}

/** Runs `rollcall doctor --json` as a process of its own. */
export async function runDoctor(
  options: CommandOptions,
  args: readonly string[] = [],
): Promise<Diagnosis> {
  const { code, stdout, stderr } = await runCommand(['doctor', '--json', ...args], options)
  if (stdout === '') throw new Error(`doctor printed no report, but on standard error:\n${stderr}`)
  const report = JSON.parse(stdout) as Report
  const { findings } = report
  return {
    code,
    report,
    of: (check) => findings.filter((finding) => finding.check === check),
    faults: findings.filter(({ state }) => state === 'fault').map(({ check }) => check),
  }
}
