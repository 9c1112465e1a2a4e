import { LRUCache } from 'lru-cache';
import type { Caller } from '#kernel';
import type { SchemaService } from '../../schema/contract.ts';
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
  readonly #plans = new LRUCache<string, Promise<GroupPlan>>({ max: MAX_PLANS });

  constructor(deps: PlansDeps) {
    this.#deps = deps;
  }

  /** @throws FORBIDDEN, INVALID_QUERY, INVALID_PAYLOAD as `createGroupPlan`. */
  async placeOf(question: Question, caller: Caller): Promise<GroupPlace> {
    const { access, schema, events } = this.#deps;
    let snapshot = await schema.snapshot();
    if (!snapshot.collections.has(question.collection)) snapshot = await schema.refresh();
    const set = await access.permissions(caller);
    const collection = snapshot.collections.get(question.collection);
    const isListened = collection !== undefined && hasReadListeners(events, collection);
    const base = `${snapshot.version} ${set.digest} ${caller.share ?? ''} ${isListened}\n${question.text}`;
    let planning = this.#plans.get(base);
    if (!planning) {
      planning = createGroupPlan(this.#deps, question, caller, set, snapshot);
      this.#plans.set(base, planning);
      planning.catch(() => this.#plans.delete(base));
    }
    const plan = await planning;
    return { plan, key: `${base}\n${plan.ofUser ? caller.user : ''} ${plan.ofRole ? caller.role : ''}` };
  }
}
