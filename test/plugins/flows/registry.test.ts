import { expect } from 'chai';
import { CORE_PLUGIN_FLOORS } from '../../../plugins/core-plugins.ts';
import {
  type FlowOperationKind,
  type FlowOperationRegistry,
  flowOperations,
  operations,
} from '../../../plugins/flows/contract.ts';
import { captureError, type TestPlugin, withBootedTestPlugins } from '../../support/test-plugins.ts';

const operation = (id: string, owner?: string): FlowOperationKind => ({
  id,
  run: async () => id,
  ...(owner === undefined ? {} : { owner }),
});

/** Flows use services of many plugins. */
const product = CORE_PLUGIN_FLOORS.flatMap(({ plugins }) => plugins);

type Add = (operation: FlowOperationKind) => () => void;

/** Boots the product and calls `work` with the registry of operations and a function that contributes one. */
async function withRegistry(work: (registry: FlowOperationRegistry, add: Add) => void): Promise<void> {
  let registry: FlowOperationRegistry | undefined;
  let add: Add = () => () => {};
  const runner: TestPlugin = {
    name: 'runner',
    manifest: { uses: { operations: '^1.0.0' }, contributes: { 'flows.operations': { packages: true } } },
    register(host) {
      registry = host.use({ operations }).operations;
      add = (one) => host.contribute(flowOperations, one);
    },
  };
  await withBootedTestPlugins([runner], () => work(registry as FlowOperationRegistry, add), {
    product,
  });
}

describe('registry of flows.operations', () => {
  it('find() returns contributed operations only', () =>
    withRegistry((registry, add) => {
      const one = operation('one', 'a');
      add(one);
      expect(registry.find('one')).to.equal(one);
      expect(registry.find('two')).to.equal(undefined);
      expect(registry.find('constructor')).to.equal(undefined);
      expect(registry.owners('one')).to.deep.equal(['a']);
      expect(registry.owners('two')).to.deep.equal([]);
      expect(registry.ids()).to.include('one');
    }));

  it('owners() names the contributing plugin when an operation has no owner', () =>
    withRegistry((registry, add) => {
      add(operation('one'));
      expect(registry.owners('one')).to.deep.equal(['runner']);
    }));

  it('find() returns "ambiguous" while several operations have the id', () =>
    withRegistry((registry, add) => {
      const first = operation('same', 'a');
      add(first);
      const remove = add(operation('same', 'b'));
      expect(registry.find('same')).to.equal('ambiguous');
      expect(registry.owners('same')).to.deep.equal(['a', 'b']);
      remove();
      expect(registry.find('same')).to.equal(first);
    }));

  it('removing a contribution removes that operation only, also when called twice', () =>
    withRegistry((registry, add) => {
      const same = operation('same');
      const remove = add(same);
      remove();
      expect(registry.ids()).to.not.include('same');
      const again = add(same);
      remove();
      expect(registry.find('same')).to.equal(same);
      again();
      expect(registry.find('same')).to.equal(undefined);
    }));

  it('a plugin without "packages" may contribute only the ids in its manifest', async () => {
    const author = (ids: readonly string[], id: string): TestPlugin => ({
      name: 'author',
      manifest: { contributes: { 'flows.operations': { ids } } },
      register: (host) => void host.contribute<FlowOperationKind>('flows.operations', operation(id)),
    });
    await withBootedTestPlugins([author(['shout'], 'shout')], () => {}, { product });
    const failure = await captureError(withBootedTestPlugins([author(['shout'], 'whisper')], () => {}, { product }));
    expect(failure.message).to.match(/the operation whisper is not declared/);
  });
});
