import { webHost } from '../platform/web-host.ts'
import type { ParsedSetting } from './problem.ts'

/** Parses hosts separated by commas, with or without ports. Returns each as browsers write it. */
export function ownHosts(text: string): ParsedSetting<readonly string[]> {
  const names = text.split(',').flatMap((name) => name.trim() || [])
  const hosts = names.flatMap((name) => (name.includes('*') ? [] : (webHost(name) ?? [])))
  if (hosts.length === names.length && hosts.length > 0) return { value: [...new Set(hosts)] }
  return {
    problem: 'has an entry that is not a host.',
    expected: 'host names, such as signup.example.com,localhost:3000',
    hint: 'Leave out https://, paths and wildcards. Add the port only if the URL of the page has one.',
  }
}
