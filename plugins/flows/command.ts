import { readFile } from 'node:fs/promises';
import type { Caller, KernelCommand } from '#kernel';
import { isUuid } from '../items/library.ts';
import type { FlowPlans } from './plan/flow-plans.ts';
import type { RunLog } from './run/run-log.ts';
import type { TryFlow } from './run/trial-report.ts';

const USAGE = 'usage: flows list | flows runs <flow> | flows try <flow> <file with the trigger as JSON>';
/** Runs that `flows runs` prints. */
const MAX_PRINTED = 100;

interface Deps {
  readonly plans: Pick<FlowPlans, 'readAll' | 'readStored'>;
  readonly runLog: Pick<RunLog, 'list'>;
  readonly tryFlow: TryFlow;
  readonly systemCaller: () => Caller;
}

const print = (line: string) => void process.stdout.write(`${line}\n`);

function refuse(line: string): number {
  process.stderr.write(`${line}\n`);
  return 1;
}

/** `flows …`: lists flows and their runs, and tries a flow without any effect. */
export function createFlowsCommand({ plans, runLog, tryFlow, systemCaller }: Deps): KernelCommand {
  async function list(): Promise<number> {
    for (const { id, name, status, trigger } of await plans.readAll())
      print(`${id} ${status} ${trigger ?? '-'} ${name}`);
    return 0;
  }

  async function listRuns(flow: string): Promise<number> {
    for (const { id, status, started, duration, step } of (await runLog.list(flow, MAX_PRINTED, 0)).runs)
      print(
        `${id} ${new Date(started).toISOString()} ${status} after ${duration} ms${step === null ? '' : ` at ${step}`}`,
      );
    return 0;
  }

  async function tryOut(flow: string, file: string): Promise<number> {
    const plan = await plans.readStored(flow);
    if (!plan) return refuse('no flow has this id, or it has no trigger');
    const report = await tryFlow(plan, systemCaller(), JSON.parse(await readFile(file, 'utf8')));
    print(JSON.stringify(report, null, 2));
    return report.status === 'resolve' ? 0 : 1;
  }

  return {
    name: 'flows',
    about: 'list | runs <flow> | try <flow> <file>: flows, their runs, and what a run would do',
    needs: 'start',
    async run([verb, flow, file, ...rest]) {
      if (rest.length > 0) return refuse(USAGE);
      if (verb === 'list' && flow === undefined) return list();
      if (flow === undefined || !isUuid(flow)) return refuse(USAGE);
      if (verb === 'runs' && file === undefined) return listRuns(flow);
      if (verb !== 'try' || file === undefined) return refuse(USAGE);
      try {
        return await tryOut(flow, file);
      } catch (error) {
        return refuse((error as Error).message);
      }
    },
  };
}
