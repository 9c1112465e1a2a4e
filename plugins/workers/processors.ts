import { readFileSync } from 'node:fs';

/**
 * The last processors of those this process may run on, as `taskset` takes them (`4,5,7`): `share` of them, at least one. Undefined
 * where the system does not tell.
 */
export function lastProcessors(share: number): string | undefined {
  let status: string;
  try {
    status = readFileSync('/proc/self/status', 'utf8');
  } catch {
    return undefined;
  }
  const list = /^Cpus_allowed_list:\s*(\S+)/m.exec(status)?.[1];
  return (
    list &&
    processorsOf(list)
      .slice(-Math.max(1, Math.floor(processorsOf(list).length * share)))
      .join(',')
  );
}

/** `0,2-4` are 0, 2, 3 and 4. */
export const processorsOf = (list: string): readonly number[] =>
  list.split(',').flatMap((part) => {
    const [first = 0, last = first] = part.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, at) => first + at);
  });
