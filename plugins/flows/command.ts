import { readFile } from 'node:fs/promises';
import { type Caller, Failure, type KernelCommand } from '#kernel';
import { renderAudit } from '../broker/library.ts';
import { isUuid } from '../database/library.ts';
import type { FlowPlans } from './plan/flow-plans.ts';
import type { TryFlow } from './run/trial-report.ts';
import { createFlowAuditLines } from './runs/flow-audit.ts';
import type { RetryRun } from './runs/retry-run.ts';
import type { RunList } from './runs/run-list.ts';
import type { SettleRuns } from './runs/settle-runs.ts';

const USAGE =
  'usage: flows list | flows audit | flows runs <flow> | flows retry <run> | flows try <flow> <file with the trigger as JSON>';
/** The number of arguments after each verb; the first of them is an id. */
const ARGUMENTS: ReadonlyMap<string, number> = new Map([
  ['list', 0],
  ['audit', 0],
  ['runs', 1],
  ['retry', 1],
  ['try', 2],
]);
/** Runs that `flows runs` prints. */
const MAX_PRINTED = 100;

interface Deps {
  readonly plans: Pick<FlowPlans, 'current' | 'readAll' | 'readStored'>;
  readonly runs: Pick<RunList, 'list'>;
  readonly settleRuns: Pick<SettleRuns, 'ofFlow'>;
  readonly retryRun: RetryRun;
  readonly tryFlow: TryFlow;
  readonly systemCaller: () => Caller;
}

const print = (line: string) => void process.stdout.write(`${line}\n`);

function refuse(line: string): number {
  process.stderr.write(`${line}\n`);
  return 1;
}

/** `flows …`: lists flows, what they may reach and their runs, runs a flow again, and tries a flow without any effect. */
export function createFlowsCommand(deps: Deps): KernelCommand {
  const { plans, runs, settleRuns, retryRun, tryFlow, systemCaller } = deps;

  async function list(): Promise<number> {
    for (const { id, name, status, trigger } of await plans.readAll())
      print(`${id} ${status} ${trigger ?? '-'} ${name}`);
    return 0;
  }

  async function audit(): Promise<number> {
    process.stdout.write(renderAudit(createFlowAuditLines((await plans.current()).values())));
    return 0;
  }

  async function listRuns(flow: string): Promise<number> {
    await settleRuns.ofFlow(flow);
    for (const { id, status, started, duration, step } of (await runs.list({ flow, limit: MAX_PRINTED, offset: 0 }))
      .runs)
      print(
        [
          `${id} ${started.toISOString()} ${status}`,
          ...(duration === null ? [] : [`after ${duration} ms`]),
          ...(step === null ? [] : [`at ${step}`]),
        ].join(' '),
      );
    return 0;
  }

  async function retry(id: string): Promise<number> {
    const { run, flow } = await retryRun(id);
    print(`${run} waits: flows runs ${flow}`);
    return 0;
  }

  async function tryOut(flow: string, file: string): Promise<number> {
    const plan = await plans.readStored(flow);
    if (!plan) return refuse('no flow has this id, or it has no trigger');
    const report = await tryFlow(plan, systemCaller(), JSON.parse(await readFile(file, 'utf8')));
    print(JSON.stringify(report, null, 2));
    return report.status === 'resolve' ? 0 : 1;
  }

  async function run([verb = '', id = '', file = '']: readonly string[]): Promise<number> {
    if (verb === 'list') return list();
    if (verb === 'audit') return audit();
    if (verb === 'runs') return listRuns(id);
    return verb === 'retry' ? retry(id) : tryOut(id, file);
  }

  return {
    name: 'flows',
    about: 'list | audit | runs <flow> | retry <run> | try <flow> <file>: flows, their runs, and what a run would do',
    needs: 'start',
    check: ([verb = '', ...rest]) =>
      rest.length === ARGUMENTS.get(verb) && (rest[0] === undefined || isUuid(rest[0])) ? undefined : refuse(USAGE),
    run: (args) =>
      run(args).catch((error: Error) => refuse((error instanceof Failure ? error.detail : undefined) ?? error.message)),
  };
}
