import { expect } from 'chai';
import {
  createTusStorageFolder,
  createTusUpload,
  sendTusRequest,
  someBytes,
  type TusStorageFolder,
  uploadIdOfUrl,
} from '../plugins/tus/tus-client.ts';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

/** A cron expression that matches every second. */
const OFTEN = '* * * * * *';

describe('tus: settings', () => {
  let here: TusStorageFolder;
  let database: FreshDatabase;
  beforeEach(async () => {
    here = await createTusStorageFolder({ TUS_CLEANUP_SCHEDULE: OFTEN });
    database = await createMigratedDatabase('tus');
  });
  afterEach(async () => {
    await database?.drop();
    await here?.remove();
  });

  const left = async (path: string): Promise<boolean> =>
    (await here.objects()).some((name) => name.startsWith(uploadIdOfUrl(path)));

  it('without TUS_ENABLED there are no routes', async () => {
    const service = await startService({ database, env: { STORAGE_LOCAL_ROOT: here.root } });
    try {
      const { token } = service.admin;
      for (const [method, path] of [
        ['POST', '/files/tus'],
        ['HEAD', '/files/tus/7f1f4b6e-0000-4000-8000-000000000000'],
        ['PATCH', '/files/tus/7f1f4b6e-0000-4000-8000-000000000000'],
        ['DELETE', '/files/tus/7f1f4b6e-0000-4000-8000-000000000000'],
        ['OPTIONS', '/files/tus'],
      ] as const) {
        const { status, body } = await sendTusRequest(service, method, path, { token }).reply;
        expect(status, method).to.equal(404);
        if (method !== 'HEAD') expect(body.errors[0].extensions.code).to.equal('ROUTE_NOT_FOUND');
      }
    } finally {
      await service.stop();
    }
  });

  it('expired uploads answer as gone, and the schedule removes them with their pieces', async () => {
    const service = await startService({ database, env: here.env });
    try {
      const { token } = service.admin;
      const [old, young] = [
        await createTusUpload(service, 100, { token }),
        await createTusUpload(service, 100, { token }),
      ];
      for (const path of [old, young]) {
        await sendTusRequest(service, 'PATCH', path, { token, body: someBytes(50), headers: { 'Upload-Offset': '0' } })
          .reply;
        expect(await left(path)).to.equal(true);
      }
      await database.query(`update platform_uploads set expires = now() - interval '1 second' where id = $1`, [
        uploadIdOfUrl(old),
      ]);
      const { status } = await sendTusRequest(service, 'HEAD', old, { token }).reply;
      // 410: expired; 423: the schedule is removing the upload; 403: it is removed.
      expect(status).to.be.oneOf([410, 423, 403]);
      await until(async () => (await database.query('select from platform_uploads')).length === 1);
      expect(await left(old)).to.equal(false);
      expect(await left(young)).to.equal(true);
      expect(await database.query('select upload from platform_upload_pieces')).to.deep.equal([
        { upload: uploadIdOfUrl(young) },
      ]);
    } finally {
      await service.stop();
    }
  });

  it('expired uploads are removed with TUS_ENABLED=false too', async () => {
    const on = await startService({ database, env: here.env });
    let path: string;
    try {
      const { token } = on.admin;
      path = await createTusUpload(on, 100, { token });
      await sendTusRequest(on, 'PATCH', path, { token, body: someBytes(50), headers: { 'Upload-Offset': '0' } }).reply;
    } finally {
      await on.stop();
    }
    await database.query(`update platform_uploads set expires = now() - interval '1 second'`);
    const off = await startService({ database, env: { ...here.env, TUS_ENABLED: 'false' } });
    try {
      await until(async () => (await database.query('select from platform_uploads')).length === 0);
      expect(await left(path)).to.equal(false);
    } finally {
      await off.stop();
    }
  });

  it('an invalid TUS_CLEANUP_SCHEDULE stops the start and is named', async () => {
    let message = '';
    await startService({ database, env: { ...here.env, TUS_CLEANUP_SCHEDULE: 'often' } }).then(
      (service) => service.stop(),
      (error) => (message = String(error.message)),
    );
    expect(message).to.contain('TUS_CLEANUP_SCHEDULE');
  });

  it('CORS allows and exposes the headers of the protocol', async () => {
    const cors = { CORS_ENABLED: 'true', CORS_ORIGIN: 'https://a.example', PUBLIC_URL: 'https://b.example/cms/' };
    const service = await startService({ database, env: { ...here.env, ...cors } });
    try {
      const origin = { Origin: 'https://a.example' };
      const preflight = await service.request('OPTIONS', '/files/tus', {
        headers: { ...origin, 'access-control-request-method': 'POST' },
      });
      expect(preflight.status).to.equal(204);
      const allowed = preflight.headers.get('access-control-allow-headers')?.split(',');
      expect(allowed).to.include.members(['Authorization', 'Upload-Length', 'Upload-Metadata', 'Tus-Resumable']);
      const { status, headers } = await sendTusRequest(service, 'POST', '/files/tus', {
        token: service.admin.token,
        headers: { ...origin, 'Upload-Length': '5' },
      }).reply;
      expect(status).to.equal(201);
      expect(String(headers['access-control-expose-headers']).split(',')).to.include.members([
        'Content-Range',
        'Location',
        'Upload-Offset',
        'Tus-Resumable',
      ]);
      expect(headers['access-control-allow-origin']).to.equal('https://a.example');
      // Location has the path of PUBLIC_URL, under which a proxy serves the service.
      expect(headers.location).to.match(/^\/cms\/files\/tus\/[0-9a-f-]{36}$/);
      const others = await service.request('GET', '/server/ping', { headers: origin });
      expect(others.headers.get('access-control-expose-headers')).to.equal('Content-Range');
    } finally {
      await service.stop();
    }
  });
});
