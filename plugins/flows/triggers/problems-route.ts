import type { HttpContext, Route } from '../../http/contract.ts';
import {
  describeDataAnswer,
  describeParameter,
  exactObjectSchema,
  listSchema,
  nullableSchema,
  sendData,
  TEXT_SCHEMA,
} from '../../http/library.ts';
import type { ItemsEngine } from '../../items/contract.ts';
import type { FlowPlans } from '../plan/flow-plans.ts';
import type { FindFlowProblems } from '../plan/flow-problems.ts';

interface Deps {
  readonly items: Pick<ItemsEngine, 'readOne'>;
  readonly plans: Pick<FlowPlans, 'readStored'>;
  readonly findProblems: FindFlowProblems;
}

const PROBLEM = exactObjectSchema({ step: nullableSchema(TEXT_SCHEMA), message: TEXT_SCHEMA });

/** `GET /flows/<id>/problems`: why a flow cannot begin, or where its runs fail, for callers who may read the flow. */
export const problemsRoute = ({ items, plans, findProblems }: Deps): Route => ({
  method: 'GET',
  path: '/flows/:id/problems',
  description: {
    tag: 'flows',
    access: 'permissions',
    summary: 'Lists what is wrong with a flow as it is stored: its trigger, its chain and the types of its operations.',
    params: { id: describeParameter('Id of the flow.') },
    answers: describeDataAnswer(listSchema(PROBLEM)),
  },
  async handle(ctx: HttpContext): Promise<void> {
    const id = ctx.params.id as string;
    await items.readOne(ctx.state.caller, 'platform_flows', id, { fields: ['id'] });
    const plan = await plans.readStored(id);
    sendData(
      ctx,
      plan ? findProblems(plan) : [{ step: null, message: 'the flow has no trigger, or one that does not exist' }],
    );
  },
});
