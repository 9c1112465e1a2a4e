import { expect } from 'chai';
import { LoadFailure } from '../../../plugins/extensions/library.ts';
import { assertValidConfinedContribution } from '../../../plugins/extensions-confined/assert-contribution.ts';
import { findDuplicateContributions } from '../../../plugins/extensions-confined/duplicate-contributions.ts';

type Contribution = Parameters<typeof assertValidConfinedContribution>[0];
type GatedPackage = Parameters<typeof findDuplicateContributions>[0][number];

const contribution = (more: Partial<Contribution>): Contribution => ({
  type: 'endpoint',
  key: '',
  id: 'orders',
  capabilities: { endpoint: { access: 'public' } },
  events: {},
  secretOptions: [],
  ...more,
});

function codeOf(one: Contribution): string | undefined {
  try {
    assertValidConfinedContribution(one);
    return undefined;
  } catch (error) {
    return (error as LoadFailure).code;
  }
}

describe('assertValidConfinedContribution and findAmbiguities', () => {
  it('an endpoint without capabilities.endpoint is CAPABILITY_MISSING', () => {
    expect(codeOf(contribution({}))).to.equal(undefined);
    expect(codeOf(contribution({ capabilities: { log: true } }))).to.equal('CAPABILITY_MISSING');
  });

  it('an endpoint path with pattern characters is ROUTE_INVALID', () => {
    for (const id of ['a', 'a-b.c_d', '@acme/orders', '@acme/service-extension-orders', '0', '_a']) {
      expect(codeOf(contribution({ id })), id).to.equal(undefined);
    }
    const wrong = [
      '',
      'A',
      'a/b',
      '@a/b/c',
      ':id',
      'a*',
      '(a)',
      '.',
      '..',
      '.a',
      'a b',
      'a%20b',
      'ä',
      '@/a',
      'a/',
      '-a',
      'a'.repeat(201),
    ];
    for (const id of wrong) expect(codeOf(contribution({ id })), id).to.equal('ROUTE_INVALID');
  });

  it('an inexact event name or a member of every object is EVENT_INVALID', () => {
    const hook = (events: Contribution['events']) => codeOf(contribution({ type: 'hook', capabilities: {}, events }));
    for (const name of ['items.create', 'a.items.create', 'a:b-c_d', '0', 'auth.login']) {
      expect(hook({ action: [name] }), name).to.equal(undefined);
    }
    const wrong = [
      '*.items.create',
      'a..b',
      '.a',
      'a.',
      'a._listeners',
      '__proto__.a',
      'a.toString',
      'a b',
      '-a',
      'ä',
      'a'.repeat(129),
    ];
    for (const name of wrong) expect(hook({ action: [name] }), name).to.equal('EVENT_INVALID');
    expect(hook({})).to.equal('EVENT_INVALID');
    expect(hook({ filter: [] })).to.equal('EVENT_INVALID');
    expect(hook({ filter: ['a.b', 'a.b'] })).to.equal('EVENT_INVALID');
    expect(hook({ filter: Array.from({ length: 17 }, (_, at) => `a${at}`) })).to.equal('EVENT_INVALID');
  });

  it('a hook that filters auth events is EVENT_INVALID', () => {
    for (const name of ['auth.login', 'auth.jwt', 'auth.anything']) {
      expect(codeOf(contribution({ type: 'hook', events: { filter: [name] } }))).to.equal('EVENT_INVALID');
    }
  });

  it('contributions of one type with the same name are all ambiguous', () => {
    const gated = (id: string, ...contributions: Contribution[]) =>
      ({ extension: { id }, contributions }) as unknown as GatedPackage;
    const found = findDuplicateContributions([
      gated('1', contribution({})),
      gated('2', contribution({ key: 'endpoint:orders' }), contribution({ key: 'endpoint:b', id: 'b' })),
      gated('3', contribution({ type: 'hook' })),
    ]);
    expect([...found].map(([place, { code }]) => [place, code])).to.deep.equal([
      ['1', 'AMBIGUOUS_ENDPOINT'],
      ['2 endpoint:orders', 'AMBIGUOUS_ENDPOINT'],
    ]);
    expect([...found.values()].every((one) => one instanceof LoadFailure)).to.equal(true);
  });
});
