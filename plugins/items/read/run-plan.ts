import { type Caller, fail } from '#kernel';
import type { ReadText, Stream, Subjects } from '../../query/contract.ts';
import type { Key } from '../contract.ts';
import type { Deps } from '../deps.ts';
import { castKey, keyField, type Target } from '../target.ts';
import { isHeard, throughHooks } from './hooks.ts';
import { isShort, wholeIfShort } from './long-read.ts';
import type { Asked, Plan } from './plan.ts';
import { singletonDefaults } from './singleton.ts';

/** What is done with a plan once it is there; done again where the tables turn out to have changed. */
export type PlanUse<T> = (caller: Caller, target: Target, asked: Asked, plan: Plan) => Promise<T>;

export interface PlanRuns {
  /** Runs the statement of a plan and passes the rows to the listeners of the collection. */
  readonly run: PlanUse<ReadText | Stream>;
  /** The same for a plan that may be long: as one text where the answer turns out to be short. */
  readonly runLong: PlanUse<ReadText | Stream>;
}

export function createPlanRuns({ query, events }: Pick<Deps, 'query' | 'events'>): PlanRuns {
  const run: PlanUse<ReadText | Stream> = async (caller, target, asked, { prepared, read, told }) => {
    const { collection } = target;
    const subjects = subjectsOf(caller, {
      given: query.given(prepared, asked.given),
      ...(asked.keys ? { keys: asked.keys as readonly Key[] } : {}),
    });
    if (prepared.form === 'rows') return query.stream(prepared, subjects);
    const key = asked.key === undefined ? null : castKey(keyField(collection), asked.key);
    const text = await query.run(prepared, { ...subjects, key });
    if (text.data === null) {
      if (asked.key === undefined && collection.singleton)
        return { ...text, data: singletonDefaults(read, told?.shape) };
      throw fail('FORBIDDEN', `${collection.name} has no readable row ${String(asked.key)}`);
    }
    // What a selection reads is settled by then, also where listeners come or go.
    if (told) return throughHooks(events, caller, collection, told.query, text, told.shape);
    return !asked.selection && !asked.silent && isHeard(events, collection)
      ? throughHooks(events, caller, collection, asked.query(), text)
      : text;
  };

  const runLong: PlanUse<ReadText | Stream> = async (caller, target, asked, plan) => {
    if (plan.prepared.form === 'text') return run(caller, target, asked, plan);
    if (plan.short) {
      const subjects = subjectsOf(caller, { given: query.given(plan.short, asked.given) });
      let stays = false;
      try {
        const text = await query.run(plan.short, subjects);
        stays = isShort(text);
        return text;
      } finally {
        if (!stays) plan.short = null;
      }
    }
    const found = await wholeIfShort((await run(caller, target, asked, plan)) as Stream);
    const isRemembered = asked.text !== undefined;
    if (!('batches' in found) && isRemembered && plan.short === undefined)
      plan.short = query.keep(query.prepare(plan.read, target.overview));
    return found;
  };

  return { run, runLong };
}

/** The values that a statement takes of its caller, and `more`. */
export const subjectsOf = (
  { user, role, owner, ip, admin }: Caller,
  more: Pick<Subjects, 'given' | 'keys'> = {},
): Subjects => ({
  user,
  role,
  owner,
  ip,
  admin,
  ...more,
});
