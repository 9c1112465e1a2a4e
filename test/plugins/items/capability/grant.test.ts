import { expect } from 'chai';
import { authorities, findJsonSchemaProblems, type GrantHolder } from '#kernel';
import { renderAuthorities } from '../../../../plugins/broker/library.ts';
import {
  describeItemsGrant,
  type ItemsGrant,
  itemsGrantSchema,
  widensItemsGrant,
} from '../../../../plugins/items/capability/grant.ts';
import {
  reservedFilesCapability,
  reservedSchemaCapability,
} from '../../../../plugins/items/capability/reserved-capabilities.ts';

const fits = (grant: unknown) => findJsonSchemaProblems(itemsGrantSchema, grant).length === 0;
const user: ItemsGrant = { accountability: 'user' };
const full: ItemsGrant = { accountability: 'full-access' };

describe('the grant of the capability items', () => {
  it('accepts the accountability, and lists of collections and actions', () => {
    for (const grant of [
      user,
      full,
      'current-user',
      'system',
      { ...user, collections: ['articles'] },
      { ...full, actions: ['read'], collections: ['a', 'b'] },
    ])
      expect(fits(grant), JSON.stringify(grant)).to.equal(true);
    for (const grant of [
      ...['user', 'full-access', '', true, null, [], {}, { accountability: 'admin' }, { accountability: true }],
      ...[
        { collections: [] },
        { collections: [''] },
        { collections: 'a' },
        { collections: ['a', 'a'] },
        { more: 1 },
      ].map((one) => ({ ...user, ...one })),
      ...[{ actions: [] }, { actions: ['share'] }].map((one) => ({ ...user, ...one })),
    ])
      expect(fits(grant), JSON.stringify(grant)).to.equal(false);
  });

  it('is described by one sentence for each verb', () => {
    const sentences = (grant: ItemsGrant) => renderAuthorities(describeItemsGrant(grant));
    const all = ['reads', 'creates', 'updates', 'deletes'];
    expect(sentences('current-user')).to.deep.equal(all.map((verb) => `${verb} items (as the calling user)`));
    expect(sentences('system')).to.deep.equal(all.map((verb) => `${verb} items (without permissions (full access))`));
    expect(sentences({ ...user, collections: ['b', 'a'], actions: ['create', 'read'] })).to.deep.equal([
      'reads items of a, items of b (as the calling user)',
      'creates items of a, items of b (as the calling user)',
    ]);
    expect(sentences({ ...full, actions: ['delete'] })).to.deep.equal([
      'deletes items (without permissions (full access))',
    ]);
  });

  it('widens by more rights, more collections or more actions', () => {
    const some: ItemsGrant = { ...user, collections: ['a', 'b'], actions: ['read', 'create'] };
    for (const [before, after, expected] of [
      [undefined, user, true],
      [user, 'current-user', false],
      ['system', full, false],
      [user, full, true],
      [full, user, false],
      [user, some, false],
      [some, user, true],
      [some, { ...some, collections: ['b'] }, false],
      [some, { ...some, collections: ['b', 'c'] }, true],
      [some, { ...some, actions: ['read'] }, false],
      [some, { ...some, actions: ['read', 'update'] }, true],
      [user, { ...user, actions: ['read', 'create', 'update', 'delete'] }, false],
      [{ ...full, collections: ['a'] }, { ...user, collections: ['a', 'b'] }, true],
    ] as const)
      expect(widensItemsGrant(before, after), JSON.stringify([before, after])).to.equal(expected);
  });

  it('the reserved capabilities files and schema are valid in a grant and bind to nothing', () => {
    const { schema, describe: files, widens } = reservedFilesCapability;
    expect(findJsonSchemaProblems(schema, user)).to.deep.equal([]);
    for (const grant of [{}, 'system', { accountability: 'user', more: 1 }])
      expect(findJsonSchemaProblems(schema, grant), JSON.stringify(grant)).not.to.deep.equal([]);
    expect(files({ accountability: 'user' })).to.deep.equal(authorities('reserves', ['files'], 'as the calling user'));
    expect(widens({ accountability: 'user' }, { accountability: 'full-access' })).to.equal(true);
    expect(findJsonSchemaProblems(reservedSchemaCapability.schema, ['read', 'write'])).to.deep.equal([]);
    for (const grant of [[], ['alter'], {}, 'read'])
      expect(findJsonSchemaProblems(reservedSchemaCapability.schema, grant), JSON.stringify(grant)).not.to.deep.equal(
        [],
      );
    expect(reservedSchemaCapability.describe(['write', 'read'])).to.deep.equal(
      authorities('reserves', ['the schema'], 'read, write'),
    );
    expect([
      reservedSchemaCapability.widens(['read'], ['read', 'write']),
      reservedSchemaCapability.widens(['read'], ['read']),
    ]).to.deep.equal([true, false]);
    const subject = {} as GrantHolder;
    expect(reservedFilesCapability.bind({ accountability: 'user' }, subject)).to.equal(undefined);
    expect(reservedSchemaCapability.bind(['read'], subject)).to.equal(undefined);
  });
});
