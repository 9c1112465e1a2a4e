import { fail } from '#kernel';
import { isUuid } from '../../database/library.ts';
import type { HttpContext, Route } from '../../http/contract.ts';
import { parsedQueryStringOf, sendData } from '../../http/library.ts';
import type { ItemsEngine } from '../../items/contract.ts';
import type { CancelRun } from './cancel-run.ts';
import type { RetryRun } from './retry-run.ts';
import type { RunCounters } from './run-counters.ts';
import type { RunList } from './run-list.ts';
import {
  CANCEL_RUN_ROUTE_DESCRIPTION,
  DEFAULT_LIMIT,
  MAX_LIMIT,
  RETRY_RUN_ROUTE_DESCRIPTION,
  RUN_LIST_ROUTE_DESCRIPTION,
  RUN_ROUTE_DESCRIPTION,
} from './run-route-descriptions.ts';
import { RUN_STATUSES, type RunStatus } from './run-statuses.ts';
import type { SettleRuns } from './settle-runs.ts';

interface Deps {
  readonly items: Pick<ItemsEngine, 'readOne'>;
  readonly runs: RunList;
  readonly counters: Pick<RunCounters, 'read'>;
  readonly settleRuns: Pick<SettleRuns, 'ofFlow' | 'ofWaiting'>;
  readonly cancelRun: CancelRun;
  readonly retryRun: RetryRun;
}

/** `/flows/<id>/runs`, for admins: a run holds what operations read with other rights than those of callers that may read the flow. */
export function runRoutes({ items, runs, counters, settleRuns, cancelRun, retryRun }: Deps): readonly Route[] {
  /** The id of the flow, for an admin. @throws FORBIDDEN for other callers, and where there is none */
  async function flowOf(ctx: HttpContext): Promise<string> {
    const id = ctx.params.id as string;
    assertAdmin(ctx);
    await items.readOne(ctx.state.caller, 'platform_flows', id, { fields: ['id'] });
    return id;
  }

  async function list(ctx: HttpContext): Promise<void> {
    const flow = await flowOf(ctx);
    const query = parsedQueryStringOf(ctx);
    const statuses = parseStatuses(query.status);
    const limit = Math.min(parseCount(query.limit, 'limit', DEFAULT_LIMIT), MAX_LIMIT);
    const offset = (parseCount(query.page, 'page', 1) - 1) * limit;
    await settleRuns.ofFlow(flow);
    const [found, counts] = await Promise.all([runs.list({ flow, statuses, limit, offset }), counters.read(flow)]);
    ctx.body = JSON.stringify({ data: found.runs, meta: { total_count: found.count, counts } });
    ctx.type = 'application/json';
  }

  async function findRun(flow: string, run: string) {
    const found = isUuid(run) ? await runs.find(flow, run) : undefined;
    if (!found) throw fail('FORBIDDEN', 'the flow has no run of this id');
    return found;
  }

  async function read(ctx: HttpContext): Promise<void> {
    const flow = await flowOf(ctx);
    await settleRuns.ofFlow(flow);
    const found = await findRun(flow, ctx.params.run as string);
    if (found.status === 'waiting') await settleRuns.ofWaiting(found.id);
    sendData(ctx, found.status === 'waiting' ? await findRun(flow, found.id) : found);
  }

  async function cancel(ctx: HttpContext): Promise<void> {
    const { id, status } = await findRun(...idsOf(ctx));
    if (!(await cancelRun(id))) throw fail('INVALID_PAYLOAD', `The run has ended already: its status is ${status}.`);
    sendData(ctx, undefined);
  }

  async function retry(ctx: HttpContext): Promise<void> {
    const [flow, id] = idsOf(ctx);
    const { run } = await retryRun(id, flow);
    sendData(ctx, { id: run });
  }

  const path = '/flows/:id/runs';
  return [
    { method: 'GET', path, description: RUN_LIST_ROUTE_DESCRIPTION, handle: list },
    { method: 'GET', path: `${path}/:run`, description: RUN_ROUTE_DESCRIPTION, handle: read },
    { method: 'POST', path: `${path}/:run/cancel`, description: CANCEL_RUN_ROUTE_DESCRIPTION, handle: cancel },
    { method: 'POST', path: `${path}/:run/retry`, description: RETRY_RUN_ROUTE_DESCRIPTION, handle: retry },
  ];
}

function assertAdmin({ state }: HttpContext): void {
  if (!state.caller.admin) throw fail('FORBIDDEN', 'runs are for admins');
}

/** The ids of flow and run, for an admin. @throws FORBIDDEN for other callers, and for what is no id */
function idsOf(ctx: HttpContext): readonly [flow: string, run: string] {
  assertAdmin(ctx);
  const { id = '', run = '' } = ctx.params;
  if (!isUuid(id) || !isUuid(run)) throw fail('FORBIDDEN', 'the flow has no run of this id');
  return [id, run];
}

function parseCount(value: unknown, name: string, fallback: number): number {
  if (value === undefined) return fallback;
  const number = Number(value);
  if (!Number.isSafeInteger(number) || number < 1 || number > 1_000_000_000)
    throw fail('INVALID_QUERY', `"${name}" must be a number from 1`);
  return number;
}

function parseStatuses(value: unknown): readonly RunStatus[] | undefined {
  if (value === undefined) return undefined;
  const names = (Array.isArray(value) ? value : [value]).flatMap((one) => String(one).split(','));
  const statuses = names.map((name) => RUN_STATUSES.find((status) => status === name));
  if (statuses.every((status) => status !== undefined)) return statuses;
  throw fail('INVALID_QUERY', `"status" must be one of ${RUN_STATUSES.join(', ')}, or several divided by commas`);
}
