import { expect } from 'chai';
import { type InProcessService, startService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { type S3Relay, startS3Relay } from './fault-injecting-s3-proxy.ts';
import { type S3Server, startS3Server } from './s3-server.ts';

describe('storage-s3: outage of the server', function () {
  this.timeout(120_000);
  let server: S3Server;
  let relay: S3Relay;
  let service: InProcessService;
  before(async () => {
    server = await startS3Server();
    const env = server.env('media');
    relay = await startS3Relay(env.STORAGE_MEDIA_ENDPOINT as string);
    service = await startService({
      env: { STORAGE_LOCATIONS: 'media', ...env, STORAGE_MEDIA_ENDPOINT: relay.url, LOG_LEVEL: 'warn' },
    });
  });
  after(async () => {
    relay?.decide(() => 'pass');
    await service?.stop();
    await relay?.close();
    await server?.stop();
  });

  const send = (method: string, path: string, body?: FormData) =>
    service.request(method, path, { token: service.admin.token, ...(body ? { body } : {}) });
  const put = (text: string, path = '/files') => {
    const form = new FormData();
    form.set('file', new Blob([text]), 'a.txt');
    return send(path === '/files' ? 'POST' : 'PATCH', path, form);
  };
  const orphanEntries = () => service.database.query<{ name: string }>('select name from platform_orphaned_objects');

  it('an outage answers 503 and fails the health check; deleted objects are removed after it', async () => {
    const [kept, gone] = await Promise.all(['kept', 'gone'].map(async (text) => (await put(text)).body.data.id));
    relay.decide(() => 'cut');
    const refused = [
      put('new'),
      put('x'.repeat(9 * 2 ** 20)),
      put('new', `/files/${kept}`),
      send('GET', `/assets/${kept}`),
    ];
    for (const { status, body } of await Promise.all(refused))
      expect([status, body.errors[0].extensions.code]).to.deep.equal([503, 'SERVICE_UNAVAILABLE']);
    expect((await send('DELETE', `/files/${gone}`)).status).to.equal(204);
    expect((await send('GET', `/files/${kept}`)).body.data.filesize, 'the row of before').to.equal('4');
    await until(async () => (await send('GET', '/server/health')).status === 503);
    expect((await orphanEntries()).map(({ name }) => name)).to.include(`${gone}.txt`);

    relay.decide(() => 'pass');
    expect((await send('GET', `/assets/${kept}`)).body).to.equal('kept');
    // Each delete makes the janitor retry all orphaned objects.
    await send('DELETE', `/files/${(await put('x')).body.data.id}`);
    await until(async () => (await orphanEntries()).length === 0, 20_000);
    const { Contents = [] } = await server.s3.listObjectsV2({
      Bucket: server.settings.bucket,
      Prefix: server.settings.root,
    });
    const names = Contents.map(({ Key = '' }) => Key.slice(server.settings.root.length));
    expect(names.filter((name) => !name.startsWith('health-'))).to.deep.equal([`${kept}.txt`]);
  });
});
