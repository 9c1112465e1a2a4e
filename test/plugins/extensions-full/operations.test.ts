import { expect } from 'chai';
import { Failures, fail } from '#kernel';
import { exceptions } from '../../../plugins/extensions-full/exceptions.ts';
import { toFlowRejectData } from '../../../plugins/extensions-full/extension-error-mapping.ts';
import { publicCaller } from '../../support/caller.ts';
import { captureError } from '../../support/test-plugins.ts';
import { type ExtensionTestService, startExtensionTestService } from './test-service.ts';

describe('operations with full authority', () => {
  let testService: ExtensionTestService;
  before(async () => {
    testService = await startExtensionTestService();
  });
  after(() => testService?.stop());

  const operation = (body: string) =>
    ({
      type: 'operation',
      files: `export default { id: 'step', handler: async (options, context) => { ${body} } };`,
    }) as const;
  const run = (options = {}, caller: ReturnType<typeof publicCaller> | null = null) => {
    const found = testService.deps.operations.find('step');
    if (!found || found === 'ambiguous') throw new Error('there is no such step');
    return found.run(options, { data: { $last: 1 }, caller });
  };

  it("an operation gets its options, the chain's data, the accountability and the context", async () => {
    const body = `return [options, context.data, context.accountability, Object.keys(context).sort()];`;
    await testService.with(operation(body), async () => {
      expect(await run({ a: 1 })).to.deep.equal([
        { a: 1 },
        { $last: 1 },
        null,
        [
          ...['accountability', 'data', 'database', 'emitter', 'env', 'exceptions', 'extensionSettings', 'flow'],
          ...['getSchema', 'logger', 'services', 'signal'],
        ],
      ]);
      const [, , accountability] = (await run({}, publicCaller({ ip: '1.2.3.4' }))) as [unknown, unknown, object];
      expect(accountability).to.include({ user: null, admin: false, ip: '1.2.3.4' });
    });
    expect(testService.deps.operations.find('step')).to.equal(undefined);
  });

  it('an operation may use the database, and undefined becomes null', async () => {
    await testService.with(
      operation(`if (options.ask) return (await context.database.raw('select 1 as one')).rows;`),
      async () => {
        expect(await run()).to.equal(null);
        expect(await run({ ask: true })).to.deep.equal([{ one: 1 }]);
      },
    );
  });

  it('an operation that throws rejects with the thrown value', async () => {
    await testService.with(operation(`throw new context.exceptions.ForbiddenException('no');`), async () => {
      expect(toFlowRejectData(await captureError(run()))).to.deep.equal({
        message: 'no',
        code: 'FORBIDDEN',
        extensions: {},
        status: 403,
      });
    });
  });

  it('toRejectData renders thrown values for the reject branch', () => {
    const shown = { message: 'bad', code: 'INVALID_PAYLOAD', extensions: { a: 1 }, status: 400 };
    const failure = fail('INVALID_PAYLOAD', 'bad', { a: 1 });
    expect(toFlowRejectData(failure)).to.deep.equal(shown);
    expect(toFlowRejectData(new Failures([failure]))).to.deep.equal(shown);
    expect(toFlowRejectData(new exceptions.InvalidPayloadException('bad', { a: 1 }))).to.deep.equal(shown);
    expect(toFlowRejectData(new Error('bad'))).to.deep.equal({ message: 'bad' });
    expect(toFlowRejectData('{"a":1}')).to.deep.equal({ a: 1 });
    expect(toFlowRejectData('text')).to.equal('text');
    expect(toFlowRejectData({ a: 1 })).to.deep.equal({ a: 1 });
    expect(toFlowRejectData(undefined)).to.equal(undefined);
  });
});
