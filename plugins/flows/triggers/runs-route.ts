import { fail } from '#kernel';
import type { HttpContext, Route } from '../../http/contract.ts';
import {
  dataEnvelopeSchema,
  describeParameter,
  exactObjectSchema,
  INTEGER_SCHEMA,
  listSchema,
  nullableSchema,
  parsedQueryStringOf,
  TEXT_SCHEMA,
} from '../../http/library.ts';
import type { ItemsEngine } from '../../items/contract.ts';
import type { RunLog } from '../run/run-log.ts';

interface Deps {
  readonly items: Pick<ItemsEngine, 'readOne'>;
  readonly log: Pick<RunLog, 'list'>;
}

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;

const RUN = exactObjectSchema({
  id: TEXT_SCHEMA,
  status: TEXT_SCHEMA,
  started: TEXT_SCHEMA,
  ended: TEXT_SCHEMA,
  duration: INTEGER_SCHEMA,
  step: nullableSchema(TEXT_SCHEMA),
  error: {},
  user: nullableSchema(TEXT_SCHEMA),
  activity: nullableSchema(INTEGER_SCHEMA),
});

function countParameter(value: unknown, name: string, fallback: number, least: number): number {
  if (value === undefined) return fallback;
  const number = Number(value);
  if (!Number.isInteger(number) || number < least)
    throw fail('INVALID_QUERY', `"${name}" must be a number from ${least}`);
  return number;
}

/** `GET /flows/<id>/runs`: ended runs of a flow, the latest first, for callers who may read the flow. */
export const runsRoute = ({ items, log }: Deps): Route => ({
  method: 'GET',
  path: '/flows/:id/runs',
  description: {
    tag: 'flows',
    access: 'permissions',
    summary: 'Lists the ended runs of a flow, the latest first, without those of flows that keep none.',
    params: { id: describeParameter('Id of the flow.') },
    query: {
      limit: describeParameter(`Number of runs, ${DEFAULT_LIMIT} by default, at most ${MAX_LIMIT}.`, INTEGER_SCHEMA),
      page: describeParameter('Page of that many runs, from 1.', INTEGER_SCHEMA),
    },
    answers: {
      200: {
        'application/json': dataEnvelopeSchema(listSchema(RUN), exactObjectSchema({ total_count: INTEGER_SCHEMA })),
      },
    },
  },
  async handle(ctx: HttpContext): Promise<void> {
    const id = ctx.params.id as string;
    await items.readOne(ctx.state.caller, 'platform_flows', id, { fields: ['id'] });
    const { limit, page } = parsedQueryStringOf(ctx);
    const size = Math.min(countParameter(limit, 'limit', DEFAULT_LIMIT, 1), MAX_LIMIT);
    const { runs, count } = await log.list(id, size, (countParameter(page, 'page', 1, 1) - 1) * size);
    ctx.body = JSON.stringify({ data: runs, meta: { total_count: count } });
    ctx.type = 'application/json';
  },
});
