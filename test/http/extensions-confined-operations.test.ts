import { expect } from 'chai';
import type { Caller } from '#kernel';
import {
  type FlowOperationKind,
  type FlowOperationRegistry,
  flowOperations,
  operations,
} from '../../plugins/flows/contract.ts';
import { type InProcessService, startService } from '../support/service.ts';
import { type TestComposition, writeTestPluginPackages } from '../support/test-plugins.ts';
import {
  type ConfinedPackageFolder,
  createConfinedPackageFolder,
  listExtensions,
  reloadExtensions,
} from './confined-packages.ts';

const operation = (more: object = {}) => ({ type: 'operation', ...more });
const code = (id: string, handler: string) => `export default { id: '${id}', handler: ${handler} };`;

describe('confined operations', () => {
  let thirdParty: TestComposition;
  let packages: ConfinedPackageFolder;
  let service: InProcessService;
  let registry: FlowOperationRegistry;
  let asSystem: () => Caller;

  before(async function () {
    this.timeout(120_000);
    // In the service the plugin `flows` reads the registry of operations. Here a plugin of the test does.
    thirdParty = await writeTestPluginPackages([
      {
        name: 'runner',
        thirdParty: true,
        manifest: {
          uses: { operations: '^1.0.0' },
          contributes: { 'flows.operations': { ids: ['taken'] } },
          capabilities: { system: { reasons: ['a schedule'] } },
        },
        register(host) {
          registry = host.use({ operations }).operations;
          asSystem = () => host.asSystem('a schedule');
          host.contribute(flowOperations, { id: 'taken', run: async () => 'built in' });
        },
      },
    ]);
    packages = await createConfinedPackageFolder(`${thirdParty.folder}/local`);
    await packages.put(
      'service-extension-sum',
      operation({
        capabilities: { log: true, items: { accountability: 'user' } },
        optionDelivery: { token: { delivery: 'reference' }, other: { delivery: 'reference' } },
      }),
      code(
        'sum',
        `async ({ options, input, ...rest }, { accountability, host, activation, reject }) => {
          if (input === 'reject') reject(409, 'NO_STOCK', 'No stock.');
          if (input === 'throw') throw new Error('a secret of the guest');
          if (input === 'loop') for (;;);
          if (input === 'log') { host.log.info('with ' + options.token.ref, options); return; }
          if (input === 'items') return host.items.readMany('anything', {});
          return { options, input, rest, accountability, activation };
        }`,
      ),
    );
    await packages.put('service-extension-taken', operation(), code('taken', '() => 1'));
    await packages.put('service-extension-two', operation(), code('two', '() => 1'));
    await packages.put('@acme/service-extension-two', operation(), code('two', '() => 1'));
    service = await startService({
      env: { EXTENSIONS_PATH: packages.path, EXTENSIONS_SANDBOX_TIMEOUT: '5s', LOG_LEVEL: 'info' },
    });
  });
  after(async () => {
    await service?.stop();
    await thirdParty?.remove();
  });

  const found = (id: string) => registry.find(id) as FlowOperationKind;
  const run = (options: Readonly<Record<string, unknown>>, $last: unknown, caller: Caller | null = null) =>
    // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
    found('sum').run(options, { data: { $last, $trigger: { secret: 1 } }, caller }) as Promise<any>;
  const rejection = async (work: Promise<unknown>) => {
    try {
      await work;
    } catch (error) {
      return JSON.parse(JSON.stringify(error));
    }
    throw new Error('it did not reject');
  };

  it('an operation gets its options and the result of the previous step, not the whole chain', async () => {
    expect(await run({ a: 1 }, { b: [2] })).to.deep.equal({
      options: { a: 1 },
      input: { b: [2] },
      rest: {},
      accountability: null,
      activation: { type: 'flow-operation' },
    });
    expect((await run({}, undefined)).input).to.equal(null);
  });

  it('options with "delivery": "reference" are references, and the operation lists them as secret options', async () => {
    expect(found('sum').secretOptions).to.deep.equal(['token', 'other']);
    const { options } = await run({ token: 'the secret', other: '', a: 1 }, null);
    expect(options).to.have.all.keys('a', 'token', 'other');
    expect(options.token.kind).to.equal('secret-reference');
    expect(options.other).to.equal(null);
    expect(JSON.stringify(options)).not.to.include('the secret');
    expect((await run({ token: 'the secret' }, null)).options.token.ref).not.to.equal(options.token.ref);
  });

  it('the log has no secret options', async () => {
    await run({ token: 'the secret' }, 'log');
    const lines = service.log.filter(({ owner }) => owner === 'service-extension-sum');
    expect(lines).to.have.length(1);
    expect(JSON.stringify(lines)).to.include('--redact--').and.not.include('the secret');
  });

  it('a failing operation takes the reject branch with a message and a code', async () => {
    expect(await rejection(run({}, 'throw'))).to.deep.equal({ message: 'The operation failed.', code: 'guest-error' });
    expect((await rejection(run({}, 'loop'))).code).to.equal('timeout');
    expect(await rejection(run({}, 'reject'))).to.deep.equal({ message: 'No stock.', code: 'NO_STOCK', status: 409 });
    expect((await rejection(run({}, 'x'.repeat(2 * 1024 * 1024)))).code).to.equal('internal');
  });

  it('an operation that the system runs has no accountability', async () => {
    const { accountability } = await run({}, null, asSystem());
    expect(accountability).to.equal(null);
    expect((await run({}, 'items', asSystem())).error.code).to.equal('denied');
  });

  it('an operation with the id of another one fails with OPERATION_COLLISION or AMBIGUOUS_OPERATION', async () => {
    const rows = await listExtensions(service);
    const names = ['service-extension-taken', 'service-extension-two', '@acme/service-extension-two'];
    expect(names.map((name) => rows[name]?.reason?.code)).to.deep.equal([
      'OPERATION_COLLISION',
      'AMBIGUOUS_OPERATION',
      'AMBIGUOUS_OPERATION',
    ]);
    expect(await found('taken').run({}, { data: {}, caller: null })).to.equal('built in');
    expect(registry.find('two')).to.equal(undefined);
  });

  it('the operations of a removed package are removed', async () => {
    await packages.drop('acme-service-extension-two');
    await reloadExtensions(service);
    expect((await listExtensions(service))['service-extension-two']?.status).to.equal('loaded');
    expect(await found('two').run({}, { data: {}, caller: null })).to.equal(1);
    await packages.drop('service-extension-two');
    await reloadExtensions(service);
    expect(registry.find('two')).to.equal(undefined);
  });
});
