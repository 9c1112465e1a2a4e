import { expect } from 'chai';
import { buildPermissionSet, buildSnapshotFromSketch, buildTestGraphqlSchema } from './test-schema.ts';

const id = 'integer key';
const isAnnounced = () => true;
const TABLES = { post: { id, title: 'string' }, tag: { id, name: 'string' } };

describe('subscriptions in a GraphQL schema', () => {
  it('"Subscription" has one field for each collection, whose type has the key, the event and the row', () => {
    const one = buildTestGraphqlSchema(buildSnapshotFromSketch(TABLES), { isAnnounced });
    expect(one.type('Subscription')).to.equal(`type Subscription {
  post_mutated(event: EventEnum): post_mutated
  tag_mutated(event: EventEnum): tag_mutated
}`);
    expect(one.type('post_mutated')).to.equal(`type post_mutated {
  key: ID!
  event: EventEnum
  data: post
}`);
    expect(one.type('EventEnum')).to.equal('enum EventEnum {\n  create\n  update\n  delete\n}');
    expect(one.binding('Subscription.post_mutated')).to.deep.equal({ kind: 'row changes', collection: 'post' });
  });

  it('there is no "Subscription" without a source, and none on /graphql/system', () => {
    const snapshot = buildSnapshotFromSketch(TABLES);
    for (const one of [
      buildTestGraphqlSchema(snapshot),
      buildTestGraphqlSchema(snapshot, { isAnnounced, scope: 'system' }),
      buildTestGraphqlSchema(snapshot, { isAnnounced: () => false }),
    ])
      expect([one.has('Subscription'), one.has('EventEnum'), one.has('post_mutated')]).to.deep.equal([
        false,
        false,
        false,
      ]);
  });

  it('"Subscription" has the readable collections with a key, and system collections under their whole name', () => {
    const tables = { ...TABLES, log: { line: 'string' }, platform_users: { id, email: 'string' } };
    const changes = { log: { hasKey: false, primary: null }, platform_users: { system: true } };
    const snapshot = buildSnapshotFromSketch(tables, changes);
    const permissions = buildPermissionSet({
      post: { read: ['*'] },
      log: { read: ['*'] },
      platform_users: { read: ['email'] },
    });
    const one = buildTestGraphqlSchema(snapshot, { isAnnounced, permissions });
    expect(one.fields('Subscription')).to.deep.equal(['post_mutated', 'platform_users_mutated']);
    expect(one.fields('platform_users')).to.deep.equal(['email']);
    const announced = buildTestGraphqlSchema(snapshot, { isAnnounced: ({ name }) => name === 'tag' });
    expect(announced.fields('Subscription')).to.deep.equal(['tag_mutated']);
  });

  it('"key" is nullable for callers who may not read the key of every row', () => {
    const snapshot = buildSnapshotFromSketch({ post: { id, title: 'string' } });
    const keyFor = (read: Parameters<typeof buildPermissionSet>[0]) =>
      buildTestGraphqlSchema(snapshot, { isAnnounced, permissions: buildPermissionSet(read) }).field(
        'post_mutated.key',
      );
    expect(keyFor({ post: { read: ['id', 'title'] } })).to.equal(': ID!');
    expect(keyFor({ post: { read: ['title'] } })).to.equal(': ID');
    const rule = { title: { _eq: 'x' } };
    expect(keyFor({ post: { read: [{ fields: ['title'] }, { fields: ['id'], rule }] } })).to.equal(': ID');
  });

  it('names of the types of subscriptions are taken only where there are subscriptions', () => {
    const tables = { post: { id }, post_mutated: { id }, EventEnum: { id } };
    const off = buildTestGraphqlSchema(buildSnapshotFromSketch(tables));
    expect(off.fields('Query').filter((name) => !/_by_id|_aggregated/.test(name))).to.deep.equal(Object.keys(tables));
    expect(off.warnings).to.deep.equal([]);
    const on = buildTestGraphqlSchema(buildSnapshotFromSketch(tables), { isAnnounced });
    expect(on.fields('Subscription')).to.deep.equal([
      'post_mutated',
      'post_mutate_u0064__mutated',
      'EventEnu_u006D__mutated',
    ]);
  });
});
