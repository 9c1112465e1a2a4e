import { expect } from 'chai';
import { createRegistry } from '../../../plugins/operations/registry.ts';

const operation = (id: string) => ({ id, run: async () => id });

describe('operations: the registry', () => {
  it('finds what was registered, and nothing else', () => {
    const registry = createRegistry();
    const one = operation('one');
    registry.register('a', one);
    expect(registry.find('one')).to.equal(one);
    expect(registry.find('two')).to.equal(undefined);
    expect(registry.find('constructor')).to.equal(undefined);
    expect(registry.owners('one')).to.deep.equal(['a']);
    expect(registry.owners('two')).to.deep.equal([]);
    expect(registry.ids()).to.deep.equal(['one']);
  });

  it('calls an id ambiguous while several have it, until one is left', () => {
    const registry = createRegistry();
    const first = operation('same');
    registry.register('a', first);
    const remove = registry.register('b', operation('same'));
    expect(registry.find('same')).to.equal('ambiguous');
    expect(registry.owners('same')).to.deep.equal(['a', 'b']);
    remove();
    expect(registry.find('same')).to.equal(first);
  });

  it('takes away only what was registered with it, also when asked twice', () => {
    const registry = createRegistry();
    const same = operation('same');
    const remove = registry.register('a', same);
    remove();
    expect(registry.ids()).to.deep.equal([]);
    const again = registry.register('a', same);
    remove();
    expect(registry.find('same')).to.equal(same);
    again();
    expect(registry.find('same')).to.equal(undefined);
  });
});
