import { rename } from 'node:fs/promises';
import { expect } from 'chai';
import { createTestFlow, type TestStep } from '../plugins/flows/flow-fixture.ts';
import { createUserSender, type SendAsUser } from '../plugins/users/test-users.ts';
import { type InProcessService, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import {
  type ConfinedPackageFolder,
  createConfinedPackageFolder,
  listExtensions,
  reloadExtensions,
} from './confined-packages.ts';

const MASK = '**********';
const PIN = 'the pin of a package';

describe('flows with operations of packages', function () {
  this.timeout(120_000);
  let packages: ConfinedPackageFolder;
  let service: InProcessService;
  let admin: SendAsUser;
  before(async () => {
    packages = await createConfinedPackageFolder();
    await packages.put(
      'service-extension-double',
      { type: 'operation', optionDelivery: { pin: { delivery: 'reference' } } },
      `export default { id: 'double', handler: ({ options, input }, { reject }) => {
        if (options.n < 0) reject(422, 'NEGATIVE', 'The number is negative.');
        return { twice: options.n * 2, input, pin: typeof options.pin };
      } };`,
    );
    await packages.put(
      'service-extension-stamp',
      { type: 'operation', runtime: undefined, source: undefined },
      `export default { id: 'stamp', async handler(options, { data, database, accountability, exceptions }) {
        if (options.fails) throw new exceptions.ForbiddenException('The stamp is refused.');
        const { rows } = await database.raw('select 40 + 2 as answer');
        return { answer: rows[0].answer, from: data.$trigger.body.n, admin: accountability.admin };
      } };`,
    );
    service = await startService({ env: { EXTENSIONS_PATH: packages.path, LOG_LEVEL: 'info' } });
    admin = createUserSender(service, service.admin.token);
  });
  after(async () => {
    await service?.stop();
    await packages?.remove();
  });

  const confined = (more: object = {}): TestStep => ({
    key: 'confined',
    type: 'double',
    options: { n: '{{ $trigger.body.n }}', pin: PIN, ...more },
  });
  const full = (more: object = {}): TestStep => ({ key: 'full', type: 'stamp', options: more as TestStep['options'] });
  const createFlow = (steps: readonly TestStep[]) =>
    createTestFlow(admin, { trigger: 'webhook', options: { method: 'POST', return: '$all' }, steps });
  const stepsOf = async (flow: string) => {
    const [run] = (await admin('GET', `/flows/${flow}/runs`)).body.data;
    const [revision] = (await admin('GET', `/revisions?filter[activity][_eq]=${run.activity}`)).body.data;
    return { run, steps: revision.data.steps as { key: string; status: string; options: object }[] };
  };

  it('both packages are loaded', async () => {
    const rows = await listExtensions(service);
    for (const name of ['service-extension-double', 'service-extension-stamp'])
      expect(rows[name]?.status, JSON.stringify(rows[name])).to.equal('loaded');
  });

  it('a flow with an operation of a confined package and one with full authority gives both outcomes', async () => {
    const flow = await createFlow([confined(), full()]);
    const { status, body } = await admin('POST', `/flows/trigger/${flow}`, { n: 21 });
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(body.confined.twice).to.equal(42);
    expect(body.confined.pin).to.equal('object');
    expect(body.full).to.deep.equal({ answer: 42, from: 21, admin: true });
    const { run, steps } = await stepsOf(flow);
    expect(run).to.include({ status: 'resolve', step: 'full' });
    expect(steps.map(({ key, status }) => [key, status])).to.deep.equal([
      ['confined', 'resolve'],
      ['full', 'resolve'],
    ]);
  });

  it('an operation of either package that refuses takes the reject branch, with its code', async () => {
    const flow = await createFlow([confined(), { ...full({ fails: true }), after: 'reject' }]);
    const { body } = await admin('POST', `/flows/trigger/${flow}`, { n: -1 });
    expect(body.confined).to.deep.equal({ message: 'The number is negative.', code: 'NEGATIVE', status: 422 });
    expect(body.full).to.deep.equal({
      message: 'The stamp is refused.',
      code: 'FORBIDDEN',
      status: 403,
      extensions: {},
    });
    const { run, steps } = await stepsOf(flow);
    expect(run).to.include({ status: 'reject', step: 'full' });
    expect(steps.map(({ status }) => status)).to.deep.equal(['reject', 'reject']);
  });

  it('a secret option of a package is masked where it is shown, and neither rows nor the log have it', async () => {
    const flow = await createFlow([confined()]);
    const [operation] = (await admin('GET', `/operations?filter[flow][_eq]=${flow}`)).body.data;
    expect(operation.options.pin).to.equal(MASK);
    await admin('PATCH', `/operations/${operation.id}`, { options: { n: 4, pin: MASK } });
    const { body } = await admin('POST', `/flows/trigger/${flow}`, { n: 4 });
    expect(body.confined).to.include({ twice: 8, pin: 'object' });
    const { steps } = await stepsOf(flow);
    expect(steps[0]?.options).to.deep.equal({ n: 4, pin: '--redact--' });
    const kept = [
      await service.database.query('select * from platform_operations'),
      await service.database.query('select data::text, delta::text from platform_revisions'),
      await service.database.query('select * from platform_flow_runs'),
      service.log,
    ];
    expect(JSON.stringify(kept)).to.not.include(PIN);
  });

  it('an operation whose package is gone ends the run as unknown, keeps its secret, and works when the package is back', async () => {
    const flow = await createFlow([confined()]);
    const [operation] = (await admin('GET', `/operations?filter[flow][_eq]=${flow}`)).body.data;
    const folder = `${packages.path}/service-extension-double`;
    await rename(folder, `${packages.path}/../${flow}`);
    await reloadExtensions(service);
    expect((await admin('GET', `/flows/${flow}/problems`)).body.data).to.deep.equal([
      { step: 'confined', message: 'no plugin has the operation "double"' },
    ]);
    await admin('POST', `/flows/trigger/${flow}`, { n: 1 });
    const { run, steps } = await stepsOf(flow);
    expect(run).to.include({ status: 'unknown', step: 'confined' });
    expect(steps[0]?.options).to.deep.equal({ n: 1, pin: '--redact--' });
    // An editor stores the flow meanwhile.
    await admin('PATCH', `/operations/${operation.id}`, { options: { n: 5, pin: MASK } });
    await rename(`${packages.path}/../${flow}`, folder);
    await reloadExtensions(service);
    await until(async () => {
      const { body } = await admin('POST', `/flows/trigger/${flow}`, { n: 1 });
      return body.confined?.twice === 10 && body.confined.pin === 'object';
    });
  });
});
