import { expect } from 'chai';
import type { Permission, PermissionAction } from '../../../plugins/access/contract.ts';
import type { Collection } from '../../../plugins/schema/contract.ts';
import { createFakeAccessService, createPermissionSet } from '../../support/permissions.ts';
import { buildSketchedSchema } from '../query/schema-sketch.ts';

const { permittedFields } = createFakeAccessService();

const plain = buildSketchedSchema({
  post: { id: 'integer key', title: 'string', token: 'string', tags: 'alias' },
}).collections.get('post') as Collection;
const collection: Collection = {
  ...plain,
  fields: new Map([...plain.fields].map(([name, field]) => [name, { ...field, sensitive: name === 'token' }])),
};

type Row = readonly [fields: readonly string[], rule?: Permission['rule'], action?: PermissionAction];

function of(action: PermissionAction, ...rows: readonly Row[]) {
  const all = rows.map(
    ([fields, rule = null, rowAction = 'read']): Permission => ({
      collection: 'post',
      action: rowAction,
      rule,
      validation: null,
      presets: null,
      fields,
    }),
  );
  return Object.fromEntries(permittedFields(createPermissionSet(all), action, collection));
}

describe('permittedFields', () => {
  it('it answers no field without a permission for the action', () => {
    expect(of('read')).to.deep.equal({});
    expect(of('update', [['*']])).to.deep.equal({});
    expect(of('read', [[]])).to.deep.equal({});
  });

  it('"*" stands for all fields but the sensitive ones', () => {
    expect(of('read', [['title', 'nothing']])).to.deep.equal({ title: 'always' });
    expect(of('read', [['*'], { id: { _gt: 1 } }])).to.deep.equal({ id: 'always', title: 'always', tags: 'always' });
    expect(of('read', [['*', 'token']])).to.include({ token: 'always' });
  });

  it('a field is permitted on "some" rows when not every permission lists it', () => {
    const own = { id: { _eq: 1 } };
    expect(of('read', [['id', 'title'], own], [['id'], { id: { _eq: 2 } }])).to.deep.equal({
      id: 'always',
      title: 'some',
    });
    expect(of('read', [['id', 'title'], own], [['id']])).to.deep.equal({ id: 'always', title: 'some' });
  });

  it('a field is permitted "always" when a permission for all rows lists it', () => {
    const some = { id: { _eq: 1 } };
    expect(of('read', [['id', 'title']], [['id', 'token'], some])).to.deep.equal({
      id: 'always',
      title: 'always',
      token: 'some',
    });
    expect(of('read', [['title'], {}], [['id'], some])).to.deep.equal({ title: 'always', id: 'some' });
  });

  it('fields of another action do not count', () => {
    expect(of('update', [['*']], [['title'], null, 'update'])).to.deep.equal({ title: 'always' });
  });

  it('all fields are permitted to admins, also sensitive ones', () => {
    const all = { id: 'always', title: 'always', token: 'always', tags: 'always' };
    expect(Object.fromEntries(permittedFields(createPermissionSet('admin'), 'create', collection))).to.deep.equal(all);
  });
});
