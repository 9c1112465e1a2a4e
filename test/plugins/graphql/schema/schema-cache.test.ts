import { expect } from 'chai';
import type { Caller } from '#kernel';
import type { PermissionSet } from '../../../../plugins/access/contract.ts';
import type { ContributedGraphqlField } from '../../../../plugins/graphql/contract.ts';
import { createGraphqlSchemaCache } from '../../../../plugins/graphql/schema/schema-cache.ts';
import type { SchemaOverview } from '../../../../plugins/schema/contract.ts';
import { createCaller } from '../../../support/caller.ts';
import { createForcedGarbageCollector } from '../../../support/garbage-collector.ts';
import { createFakeAccessService, createPermissionSet } from '../../../support/permissions.ts';
import { buildPermissionSet, buildSnapshotFromSketch } from './test-schema.ts';

const caller = (key: string): Caller => createCaller({ role: key });
const version = (name: string, fields: Record<string, string> = {}): SchemaOverview => ({
  ...buildSnapshotFromSketch({ post: { id: 'integer key', ...fields } }),
  version: name,
});

function memory(capacity = 10) {
  const state = {
    snapshot: version('1') as SchemaOverview,
    /** The schema snapshot that `refresh()` loads; undefined keeps the current one. */
    fresh: undefined as SchemaOverview | undefined,
    sets: new Map<string, PermissionSet>(),
    contributed: [] as { owner: string; value: ContributedGraphqlField }[],
    warnings: [] as unknown[],
    documentCount: 0,
  };
  const schemas = createGraphqlSchemaCache({
    schema: {
      snapshot: async () => state.snapshot,
      refresh: async () => (state.snapshot = state.fresh ?? state.snapshot),
    },
    access: createFakeAccessService(
      (role) => state.sets.get(role ?? '') ?? createPermissionSet('admin', role ?? 'public'),
    ),
    contributed: () => state.contributed,
    subscriptions: () => undefined,
    capacity,
    createDocuments: () => ({
      get: () => ({ id: ++state.documentCount, operations: new Map(), fragments: new Map() }),
    }),
    log: { warn: ((...line: unknown[]) => void state.warnings.push(line)) as never },
  });
  return { state, schemas };
}

describe('createSchemaCache', () => {
  it('builds a schema once for callers with the same permissions', async () => {
    const { schemas } = memory();
    const one = await schemas.get(caller('a'), 'items');
    expect(await schemas.get(caller('a'), 'items')).to.equal(one);
    expect(await schemas.get(caller('b'), 'items')).to.not.equal(one);
    expect(await schemas.get(caller('a'), 'system')).to.not.equal(one);
    expect(one).to.include({ scope: 'items', version: '1' });
  });

  it('builds it again when tables, permissions or contributed fields have changed', async () => {
    const { schemas, state } = memory();
    const first = await schemas.get(caller('a'), 'items');
    state.snapshot = version('2', { title: 'string' });
    const second = await schemas.get(caller('a'), 'items');
    expect(second).to.not.equal(first);
    expect(second.version).to.equal('2');
    state.sets.set('a', { ...buildPermissionSet({ post: { read: ['id'] } }, 'a'), version: '2' });
    const third = await schemas.get(caller('a'), 'items');
    expect(third.schema.getMutationType()).to.equal(undefined);
    const value: ContributedGraphqlField = {
      scope: 'items',
      operation: 'query',
      definition: 'extra: Int',
      resolve: () => 1,
    };
    state.contributed = [{ owner: 'notes', value }];
    const fourth = await schemas.get(caller('a'), 'items');
    expect(fourth.schema.getQueryType()?.getFields()).to.have.property('extra');
    expect(await schemas.get(caller('a'), 'items')).to.equal(fourth);
  });

  it('refreshes the schema snapshot for an unknown name', async () => {
    const { schemas, state } = memory();
    const first = await schemas.get(caller('a'), 'items');
    expect(await schemas.refresh(caller('a'), first)).to.equal(undefined);
    state.fresh = version('2', { title: 'string' });
    const second = await schemas.refresh(caller('a'), first);
    expect(second?.version).to.equal('2');
    expect(await schemas.get(caller('a'), 'items')).to.equal(second);
  });

  it('keeps no more schemas than its capacity', async () => {
    const { schemas } = memory(2);
    const first = await schemas.get(caller('a'), 'items');
    await schemas.get(caller('b'), 'items');
    expect(await schemas.get(caller('a'), 'items')).to.equal(first);
    await schemas.get(caller('c'), 'items');
    await schemas.get(caller('d'), 'items');
    expect(await schemas.get(caller('a'), 'items')).to.not.equal(first);
  });

  it('warns once of names that depend on others, for any number of schemas and table changes', async () => {
    const { schemas, state } = memory();
    for (const name of ['1', '2', '3']) {
      const fields = { id: 'integer key' };
      state.snapshot = { ...buildSnapshotFromSketch({ post: fields, post_filter: fields }), version: name };
      for (const role of ['a', 'b'])
        for (const scope of ['items', 'system'] as const) await schemas.get(caller(role), scope);
    }
    expect(state.warnings).to.deep.equal([
      [
        { collection: 'post_filter', alias: 'post_filte_u0072_' },
        'a collection has an alias in GraphQL, since its name is used by post_filter',
      ],
    ]);
  });

  it('does not retain old schema snapshots', async () => {
    const collect = createForcedGarbageCollector();
    const { schemas, state } = memory();
    const first = new WeakRef(state.snapshot);
    const collection = new WeakRef(state.snapshot.collections.get('post') as object);
    const kept = await schemas.get(caller('a'), 'items');
    state.snapshot = version('2');
    // V8 may retain an object for a while, for example while it compiles a function.
    const isHeld = () => first.deref() !== undefined || collection.deref() !== undefined;
    for (let round = 0; round < 100 && isHeld(); round++) {
      await new Promise((resolve) => setImmediate(resolve));
      collect();
      // A WeakRef retains its target until the end of the current task.
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(isHeld()).to.equal(false);
    expect(kept.schema.getType('post')).to.not.equal(undefined);
  });
});
