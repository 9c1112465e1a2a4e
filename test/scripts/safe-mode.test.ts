import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { runCli, type SpawnedService, spawnService } from '../support/service.ts';
import { type TestComposition, writeTestPluginPackages } from '../support/test-plugins.ts';

const EXAMPLES = fileURLToPath(new URL('../../extensions/examples/', import.meta.url));

/** The drivers of a sign-in provider and of a storage location belong to packages here. */
describe('start --safe with drivers of packages', function () {
  this.timeout(120_000);
  let packages: TestComposition;
  let service: SpawnedService;
  let env: Record<string, string>;

  before(async () => {
    packages = await writeTestPluginPackages([]);
    const folder = join(packages.folder, 'local');
    for (const name of ['auth-header', 'storage-database'])
      await cp(join(EXAMPLES, name), join(folder, name), { recursive: true });
    env = {
      LOG_LEVEL: 'warn',
      PUBLIC_URL: 'http://127.0.0.1:8055',
      EXTENSIONS_PATH: folder,
      AUTH_PROXY_DRIVER: 'header',
      AUTH_PROXY_SECRET: 'a text that the proxy and the service know',
      STORAGE_LOCATIONS: 'local,db',
      STORAGE_DB_DRIVER: 'database',
    };
    service = await spawnService({ args: ['start', '--safe'], env });
  });
  after(async () => {
    await service?.stop();
    await packages?.remove();
  });

  it('starts without the provider and the location, and says so', async () => {
    expect((await service.request('GET', '/auth')).body.data).to.deep.equal([]);
    expect(service.output()).to.contain('the driver of a sign-in provider is not loaded');
    expect(service.output()).to.contain('the driver of a storage location is not loaded');
  });

  it('answers SERVICE_UNAVAILABLE to files of the location, and keeps those of the others', async () => {
    const upload = (location: string) => {
      const form = new FormData();
      form.set('storage', location);
      form.set('file', new Blob(['text'], { type: 'text/plain' }), 'a.txt');
      return fetch(`${service.url}/files`, {
        method: 'POST',
        headers: { authorization: `Bearer ${service.admin.token}` },
        body: form,
      });
    };
    expect((await upload('local')).status).to.equal(200);
    const refused = await upload('db');
    const { errors } = (await refused.json()) as { errors: { extensions: { code: string } }[] };
    expect([refused.status, errors[0]?.extensions.code]).to.deep.equal([503, 'SERVICE_UNAVAILABLE']);
  });

  it('commands that start the service run without these drivers', async () => {
    const { ended, output } = runCli(['flows', 'list'], {
      ...env,
      DB_CONNECTION_STRING: service.database.url,
      LOG_STYLE: 'raw',
    });
    expect(await ended, output()).to.equal(0);
  });
});
