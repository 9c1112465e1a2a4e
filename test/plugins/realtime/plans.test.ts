import { expect } from 'chai';
import type { Caller } from '#kernel';
import { GroupPlans, type PlansDeps } from '../../../plugins/realtime/groups/plans.ts';
import { parseQuestion } from '../../../plugins/realtime/groups/question.ts';

/** Dependencies of plans over one table. `digests` are the permissions that one question after the other finds; the last one stays. */
function createDeps(digests: string[]): { deps: PlansDeps; rules: string[] } {
  const rules: string[] = [];
  const next = () => (digests.length > 1 ? (digests.shift() as string) : (digests[0] as string));
  const key = { name: 'id', type: 'integer', column: { name: 'id', dataType: 'integer' } };
  const collection = { name: 'note', kind: 'table', table: { schema: 'public', name: 'note' }, key, hasKey: true };
  const snapshot = {
    version: '1',
    collections: new Map([['note', { ...collection, fields: new Map([['id', key]]) }]]),
  };
  const deps = {
    schema: { snapshot: async () => snapshot, refresh: async () => snapshot },
    events: { hasListeners: () => false },
    items: {},
    access: {
      permissions: async () => ({ digest: next(), of: () => [{}] }),
      fieldVisibility: () => () => true,
      restrict: async (read: object) => {
        const digest = next();
        rules.push(digest);
        return { ...read, digest };
      },
    },
    query: {
      parse: () => ({ projections: [] }),
      prepare: ({ digest }: { digest: string }) => ({ digest, sources: { user: false, role: false } }),
      keepPrepared: (prepared: object) => prepared,
      runKeyed: async ({ digest }: { digest: string }) => [{ key: '1', row: digest }],
    },
  };
  return { deps: deps as unknown as PlansDeps, rules };
}

const caller = { user: 'u', role: 'r' } as unknown as Caller;
const question = parseQuestion({ collection: 'note', deliver() {}, onEnd() {} });

describe('the plan of a question', () => {
  it('is that of the permissions by which it is kept, also where these change while it is compiled', async () => {
    const { deps } = createDeps(['first', 'second', 'second', 'second', 'second', 'first']);
    const plans = new GroupPlans(deps);
    const place = await plans.placeOf(question, caller);
    expect((await place.plan.readRows(caller, ['1']))[0]?.row).to.equal('first');
    const again = await plans.placeOf(question, caller);
    expect(again.plan).to.equal(place.plan);
  });

  it('is compiled once for callers with equal permissions', async () => {
    const { deps, rules } = createDeps(['same']);
    const plans = new GroupPlans(deps);
    const places = await Promise.all([plans.placeOf(question, caller), plans.placeOf(question, caller)]);
    expect(places[0]?.plan).to.equal(places[1]?.plan);
    expect(rules).to.deep.equal(['same', 'same']);
  });
});
