import { once } from 'node:events';
import { request } from 'node:http';
import { expect } from 'chai';
import pg from 'pg';
import type { FreshDatabase } from '../../support/database.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { errorsOf, importFile } from './import-form.ts';

describe('limits of POST /utils/import/<collection>', function () {
  this.timeout(120_000);
  let database: FreshDatabase;
  let service: InProcessService;
  let gate: pg.Client;
  before(async () => {
    database = await createMigratedDatabase('import_limits');
    await database.query('create table note (id int primary key, text text not null)');
    service = await startService({
      database,
      env: {
        DATA_IMPORT_MAX_CONCURRENCY: '1',
        DATA_IMPORT_MAX_FILE_SIZE: '100kb',
        MAX_PAYLOAD_SIZE: '10kb',
        MAX_IMPORT_ERRORS: '3',
        MAX_BATCH_MUTATION: '500',
      },
    });
    gate = new pg.Client(database.url);
    await gate.connect();
  });
  after(async () => {
    await gate?.end();
    await service?.stop();
    await database?.drop();
  });

  const rows = async () => (await database.query('select * from note')).length;
  const list = (from: number, to: number) =>
    JSON.stringify(Array.from({ length: to - from + 1 }, (_one, at) => ({ id: from + at, text: 'x' })));
  const untilTableIsWaitedFor = () =>
    until(
      async () =>
        (await database.query(`select 1 from pg_locks where not granted and relation = 'note'::regclass`)).length > 0,
    );

  it('answers 413 for a file and for a row that are too large', async () => {
    const file = await importFile(service, 'note', `id,text\n1,${'x'.repeat(200_000)}\n`);
    expect([file.status, errorsOf(file)[0].code]).to.deep.equal([413, 'CONTENT_TOO_LARGE']);
    const large = 'x'.repeat(20_000);
    for (const [content, type] of [
      [`id,text\n1,a\n2,${large}\n`, 'text/csv'],
      [
        JSON.stringify([
          { id: 1, text: 'a' },
          { id: 2, text: large },
        ]),
        'application/json',
      ],
    ] as const) {
      const row = await importFile(service, 'note', content, type);
      expect([row.status, errorsOf(row)[0].code, errorsOf(row)[0].row], type).to.deep.equal([
        413,
        'CONTENT_TOO_LARGE',
        2,
      ]);
    }
    expect(await rows()).to.equal(0);
  });

  it('reports MAX_IMPORT_ERRORS errors at most, over batches', async () => {
    const content = `id,text\n${Array.from({ length: 400 }, (_one, at) => (at % 90 === 7 ? `${at},\n` : `${at},x\n`)).join('')}`;
    const reply = await importFile(service, 'note', content);
    expect(errorsOf(reply).map(({ row }: { row: number }) => row)).to.deep.equal([8, 98, 188]);
    expect(await rows()).to.equal(0);
  });

  it('refuses more rows than MAX_BATCH_MUTATION with INVALID_PAYLOAD', async () => {
    const reply = await importFile(service, 'note', list(1, 501), 'application/json');
    expect([reply.status, errorsOf(reply)[0].code]).to.deep.equal([400, 'INVALID_PAYLOAD']);
    expect(await rows()).to.equal(0);
  });

  it('answers 503 while as many imports run as DATA_IMPORT_MAX_CONCURRENCY', async () => {
    await gate.query('begin; lock table note in access exclusive mode');
    const first = importFile(service, 'note', list(1, 2), 'application/json');
    await untilTableIsWaitedFor();
    const second = await importFile(service, 'note', list(3, 4), 'application/json');
    expect([second.status, errorsOf(second)[0].code]).to.deep.equal([503, 'SERVICE_UNAVAILABLE']);
    await gate.query('commit');
    expect((await first).status).to.equal(200);
    expect(await rows()).to.equal(2);
    await database.query('truncate note');
  });

  it('is cancelled when its client leaves, and frees its place', async () => {
    await gate.query('begin; lock table note in access exclusive mode');
    const body = `--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\nContent-Type: application/json\r\n\r\n${list(1, 9)}\r\n--b--\r\n`;
    const sending = request(`${service.url}/utils/import/note`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.admin.token}`, 'content-type': 'multipart/form-data; boundary=b' },
    });
    sending.end(body);
    const failed = once(sending, 'error');
    await untilTableIsWaitedFor();
    sending.destroy(new Error('the client leaves'));
    await failed;
    await until(
      async () =>
        (await database.query(`select 1 from pg_locks where not granted and relation = 'note'::regclass`)).length === 0,
    );
    await gate.query('commit');
    // The place is free once the unit of work is rolled back.
    await until(async () => (await importFile(service, 'note', list(1, 2), 'application/json')).status === 200);
    expect(await rows()).to.equal(2);
    await database.query('truncate note');
  });

  it('is cancelled with OUT_OF_TIME after DATA_IMPORT_TIMEOUT', async () => {
    const other = await startService({ database, env: { DATA_IMPORT_TIMEOUT: '1s' } });
    try {
      await gate.query('begin; lock table note in access exclusive mode');
      const reply = await importFile(other, 'note', list(1, 2), 'application/json');
      expect([reply.status, errorsOf(reply)[0].code]).to.deep.equal([408, 'OUT_OF_TIME']);
      await gate.query('commit');
      expect(await rows()).to.equal(0);
    } finally {
      await other.stop();
    }
  });
});
