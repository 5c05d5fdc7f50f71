/** The strace command that writes a trace for `readDiskSteps`. The traced program stays our child. */
export function straceTo(file: string): readonly string[] {
  const calls =
    'openat,write,writev,pwrite64,pwritev,fsync,fdatasync,rename,renameat,renameat2,link,linkat,mkdir,mkdirat,ftruncate,unlink,unlinkat'
  const options = ['-D', '-f', '-y', '--seccomp-bpf', '-s', '32', '-e', `trace=${calls}`]
  return ['strace', ...options, '-o', file]
}

/** One step of a process, in the order in which they happened. */
export type DiskStep =
  /** The content of a file may have changed. */
  | { readonly kind: 'write'; readonly path: string }
  /** A file or directory has got this name. */
  | { readonly kind: 'name'; readonly path: string; readonly from?: string }
  /** A file has lost its name. */
  | { readonly kind: 'remove'; readonly path: string }
  /** The content of a file, or the names in a directory, are on the disk. */
  | { readonly kind: 'sync'; readonly path: string }
  /** An HTTP answer has begun. */
  | { readonly kind: 'answer'; readonly status: number }

/**
 * Reads the output of strace. A sync counts when it has ended, any other step when it begins. Opening a
 * file with `O_CREAT` counts as giving it its name, as strace does not say whether the file existed.
 */
export function readDiskSteps(trace: string): readonly DiskStep[] {
  const begun = new Map<string, string>()
  return trace.split('\n').flatMap((line): readonly DiskStep[] => {
    const [, thread = '', call = ''] = /^(\d+) +(.*)$/.exec(line) ?? []
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(call)
    if (!resumed) {
      begun.set(thread, call)
      return call.endsWith('<unfinished ...>') && isSync(call) ? [] : stepsOf(call)
    }
    const start = begun.get(thread) ?? ''
    return isSync(start) ? stepsOf(start) : []
  })
}

function isSync(call: string): boolean {
  return call.startsWith('fsync(') || call.startsWith('fdatasync(')
}

function stepsOf(call: string): readonly DiskStep[] {
  const name = call.slice(0, call.indexOf('('))
  const [, path = '', content = ''] = /^\w+\(\d+<([^>]*)>(?:, (.*))?/.exec(call) ?? []
  const [first = '', second = ''] = [...call.matchAll(/"([^"]*)"/g)].map(([, text = '']) => text)
  switch (name) {
    case 'fsync':
    case 'fdatasync':
      return [{ kind: 'sync', path }]
    case 'openat':
      return call.includes('O_CREAT') ? [{ kind: 'name', path: first }] : []
    case 'mkdir':
    case 'mkdirat':
      return call.includes(' = 0') ? [{ kind: 'name', path: first }] : []
    case 'rename':
    case 'renameat':
    case 'renameat2':
    case 'link':
    case 'linkat':
      return [{ kind: 'name', path: second, from: first }]
    case 'unlink':
    case 'unlinkat':
      return [{ kind: 'remove', path: first }]
    default: {
      const status = /"HTTP\/1\.1 (\d{3})/.exec(content)?.[1]
      if (status !== undefined) return [{ kind: 'answer', status: Number(status) }]
      return [{ kind: 'write', path }]
    }
  }
}
