import { LRUCache } from 'lru-cache';
import type { Caller } from '#kernel';
import type { PermissionSet } from '../../access/contract.ts';
import type { SchemaOverview, SchemaService } from '../../schema/contract.ts';
import { createGroupPlan, type GroupPlan, type PlanDeps } from './group-plan.ts';
import { hasReadListeners } from './listened-collections.ts';
import type { Question } from './question.ts';

export interface PlansDeps extends PlanDeps {
  readonly schema: Pick<SchemaService, 'snapshot' | 'refresh'>;
}

/** The group that a caller's question belongs to. */
export interface GroupPlace {
  readonly key: string;
  readonly plan: GroupPlan;
}

const MAX_PLANS = 5000;

/** Plans by everything they depend on. Callers with equal permissions share them, whatever their roles. */
export class GroupPlans {
  readonly #deps: PlansDeps;
  readonly #plans = new LRUCache<string, Promise<GroupPlan | undefined>>({ max: MAX_PLANS });

  constructor(deps: PlansDeps) {
    this.#deps = deps;
  }

  /** @throws FORBIDDEN, INVALID_QUERY, INVALID_PAYLOAD as `createGroupPlan`. */
  async placeOf(question: Question, caller: Caller): Promise<GroupPlace> {
    const { access, schema, events } = this.#deps;
    for (;;) {
      let snapshot = await schema.snapshot();
      if (!snapshot.collections.has(question.collection)) snapshot = await schema.refresh();
      const set = await access.permissions(caller);
      const collection = snapshot.collections.get(question.collection);
      const isListened = collection !== undefined && hasReadListeners(events, collection);
      const base = `${snapshot.version} ${set.digest} ${caller.share ?? ''} ${isListened}\n${question.text}`;
      const plan = await (this.#plans.get(base) ?? this.#createPlan(base, question, caller, set, snapshot));
      if (plan) return { plan, key: `${base}\n${plan.ofUser ? caller.user : ''} ${plan.ofRole ? caller.role : ''}` };
    }
  }

  /** Undefined where the permissions have changed meanwhile: rows are restricted by those of the moment, and the plan is kept by `set`. */
  #createPlan(
    base: string,
    question: Question,
    caller: Caller,
    set: PermissionSet,
    snapshot: SchemaOverview,
  ): Promise<GroupPlan | undefined> {
    const create = async () => {
      const plan = await createGroupPlan(this.#deps, question, caller, set, snapshot);
      const { digest } = await this.#deps.access.permissions(caller);
      return digest === set.digest ? plan : undefined;
    };
    const forget = () => {
      if (this.#plans.peek(base) === planning) this.#plans.delete(base);
    };
    const planning = create();
    this.#plans.set(base, planning);
    planning.then((plan) => plan ?? forget(), forget);
    return planning;
  }
}
