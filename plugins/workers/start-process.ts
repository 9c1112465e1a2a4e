import { AsyncLocalStorage } from 'node:async_hooks';
import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ProcessBounds, WorkerPoolOptions } from './contract.ts';
import { readAllowedCpus, takeLastCpus } from './cpu-affinity.ts';

const SHELL = '/bin/sh';

/** A process outlives the request that started it, so it must not keep the context of that request. */
const runOutsideRequest = AsyncLocalStorage.snapshot();

/**
 * Renders the shell script that bounds a process before the program replaces the shell: memory, processor time, processors,
 * priority, and how soon the system ends the process when it runs out of memory. The priority is set for the session and for the
 * process, since systems go by either. A bound that the system does not know is left out.
 */
function renderBoundedScript({ data, processor, niceness, outOfMemoryScore, processors }: ProcessBounds): string {
  const allowed = processors === undefined ? undefined : readAllowedCpus();
  return [
    `ulimit -c 0; ulimit -d ${data * 1024}; ulimit -t ${processor}`,
    `echo ${outOfMemoryScore} > /proc/self/oom_score_adj`,
    `echo ${niceness} > /proc/self/autogroup`,
    ...(processors === undefined || allowed === undefined
      ? []
      : [`command -v taskset > /dev/null && taskset -p -c ${takeLastCpus(allowed, processors)} $$ > /dev/null`]),
    `command -v nice > /dev/null && exec nice -n ${niceness} "$0" "$@"`,
    'exec "$0" "$@"',
  ].join('\n');
}

/**
 * Starts one process of a pool.
 * @throws the system's error where there is no room for another process or pipe.
 */
export function forkWorkerProcess({
  program,
  args = [],
  flags = [],
  environment = {},
  bounds,
}: WorkerPoolOptions): ChildProcess {
  const script = bounds && existsSync(SHELL) ? renderBoundedScript(bounds) : undefined;
  return runOutsideRequest(() =>
    fork(fileURLToPath(program), [...args], {
      ...(script === undefined ? {} : { execPath: SHELL }),
      execArgv: script === undefined ? [...flags] : ['-c', script, process.execPath, ...flags],
      env: { ...environment },
      cwd: fileURLToPath(new URL('./', program)),
      // A session of its own: a signal of the terminal is meant for the service alone, which lets its jobs end.
      detached: true,
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      // Messages are serialized as JSON, so that a reply is a plain value and nothing more.
      serialization: 'json',
    }),
  );
}
