import { readFileSync } from 'node:fs';

/** The processors of the machine that this process may run on, such as `0,2-4`; undefined where the system does not list them. */
export function readAllowedCpus(): string | undefined {
  try {
    return /^Cpus_allowed_list:\s*(\S+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  } catch {
    return undefined;
  }
}

/** The last processors of a list such as `0,2-5`, one by one (`4,5`): `share` of them, at least one. */
export function takeLastCpus(list: string, share: number): string {
  const all = list.split(',').flatMap((part) => {
    const [first = 0, last = first] = part.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, at) => first + at);
  });
  return all.slice(-Math.max(1, Math.floor(all.length * share))).join(',');
}
