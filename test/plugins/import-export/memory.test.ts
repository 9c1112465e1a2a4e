import { readFile, writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { type SpawnedService, spawnService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { importFile } from './import-form.ts';

const MIB = 1024 ** 2;
const ROWS = 30_000;
/** The file has some 6 MiB; as objects its rows take ten times as much. `npm run bench:import-export` measures a million rows. */
const LIMIT = 120 * MIB;

describe('memory of a service that imports and exports', function () {
  this.timeout(300_000);
  let service: SpawnedService;
  before(async () => {
    service = await spawnService();
    await service.database.query('create table note (id int primary key, text text)');
  });
  after(() => service?.stop());

  const memory = async (name: 'VmRSS' | 'VmHWM') => {
    const status = await readFile(`/proc/${service.pid}/status`, 'utf8');
    return 1024 * Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
  };

  it(`stays flat with ${ROWS} rows, also where the process adds its first job`, async () => {
    const idle = await memory('VmRSS');
    await writeFile(`/proc/${service.pid}/clear_refs`, '5');
    const text = 'x'.repeat(180);
    const list = JSON.stringify(Array.from({ length: ROWS }, (_one, id) => ({ id, text })));
    expect((await importFile(service, 'note', list, 'application/json')).status).to.equal(200);
    const body = { query: {}, format: 'csv' };
    const reply = await service.request('POST', '/utils/export/note', { token: service.admin.token, body });
    expect(reply.status).to.equal(204);
    await until(async () => (await service.database.query('select 1 from platform_files')).length > 0, 120_000);
    expect((await memory('VmHWM')) - idle).to.be.below(LIMIT);
  });
});
