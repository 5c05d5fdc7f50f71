/** What people do to tabs. */
const tabActs = [
  'rename tab',
  'swap tabs',
  'delete tab',
  'add tab',
  'protect tab',
  'free tab',
  'sort tab',
  'empty tab',
  'insert rows',
  'delete rows',
  'edit address',
  'narrow tab',
  'insert column',
  'move column',
  'rename column',
] as const

/** What people do to the spreadsheet. */
export const personActs = [
  ...tabActs,
  'fill spreadsheet',
  'make room',
  'restore version',
  'unshare',
  'share',
] as const

export type TabAct = (typeof tabActs)[number]
export type PersonAct = (typeof personActs)[number]

/**
 * What happens to the machine. `stop` is SIGTERM, `pause` SIGSTOP and, later, SIGCONT; `cut off` takes
 * the network from one process. In a `crash loop` every start soon ends in a kill, for up to two minutes.
 * `store down` takes a shared store from all processes, and `store cut` from one of them.
 */
export type MachineAct =
  | 'kill'
  | 'crash loop'
  | 'power cut'
  | 'stop'
  | 'pause'
  | 'fill disk'
  | 'tokens run out'
  | 'cut off'
  | 'store down'
  | 'store cut'
