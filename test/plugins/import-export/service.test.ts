import { expect } from 'chai';
import type { Caller } from '#kernel';
import { type ImportExportService, importExport } from '../../../plugins/import-export/contract.ts';
import { type InProcessService, startService } from '../../support/service.ts';
import { type TestComposition, writeTestPluginPackages } from '../../support/test-plugins.ts';

const REASON = 'a test imports and exports without a user';

describe('the service import-export, for a caller without a user', function () {
  this.timeout(120_000);
  let service: InProcessService;
  let composition: TestComposition;
  let importsAndExports: ImportExportService;
  let system: () => Caller;
  before(async () => {
    composition = await writeTestPluginPackages([
      {
        name: 'probe',
        manifest: { uses: { 'import-export': '^1.0.0' }, capabilities: { system: { reasons: [REASON] } } },
        register(host) {
          importsAndExports = host.use({ importExport }).importExport;
          system = () => host.asSystem(REASON);
        },
      },
    ]);
    service = await startService({ plugins: composition.composition.plugins });
    await service.database.query('create table note (id int primary key, text text)');
  });
  after(async () => {
    await service?.stop();
    await composition?.remove();
  });

  it('imports a stream and exports in the call, and a failed export leaves nothing', async () => {
    const bytes = (async function* () {
      yield Buffer.from('id,te');
      yield Buffer.from('xt\n1,a\n2,');
      yield Buffer.from('b\n');
    })();
    expect(await importsAndExports.importRows(system(), 'note', { type: 'text/csv', bytes })).to.equal(2);
    const request = { format: 'json', query: { sort: ['id'] } } as const;
    const file = await importsAndExports.exportRows(system(), 'note', request);
    const asset = await service.request('GET', `/assets/${file}`, { token: service.admin.token });
    expect(asset.body).to.deep.equal([
      { id: 1, text: 'a' },
      { id: 2, text: 'b' },
    ]);
    const wrong = { ...request, file: { folder: '00000000-0000-4000-8000-000000000000' } };
    const failure = await importsAndExports.exportRows(system(), 'note', wrong).catch((error: unknown) => error);
    expect((failure as { code?: string }).code).to.equal('INVALID_FOREIGN_KEY');
    expect(await service.database.query('select id from platform_files')).to.deep.equal([{ id: file }]);
  });
});
