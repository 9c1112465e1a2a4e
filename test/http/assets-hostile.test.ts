import { connect } from 'node:net';
import { expect } from 'chai';
import sharp from 'sharp';
import { type InProcessService, type RunningTestService, startService } from '../support/service.ts';
import { type AssetStorageFixture, createAssetStorageFixture } from './asset-storage-fixture.ts';
import { createUserWithPermissions, requestAsAdmin } from './test-users.ts';

const FILES = 'platform_files';
const SETTINGS = 'platform_settings';
const DRAWING = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';

const codeOf = (body: { errors?: { extensions: { code: string } }[] }) => body?.errors?.[0]?.extensions.code;

describe('hostile requests to assets', () => {
  let ground: AssetStorageFixture;
  let service: InProcessService;
  let other: InProcessService;
  before(async () => {
    ground = await createAssetStorageFixture();
    service = await startService({ env: ground.env });
    other = await startService({ env: ground.env, database: service.database });
  });
  after(async () => {
    await other?.stop();
    await service?.stop();
    await ground?.remove();
  });

  const file = (bytes: Buffer | string | null, columns = {}) => ground.file(service.database, bytes, columns);
  const get = (id: string, headers: Record<string, string> = {}, token: string | null = service.admin.token) =>
    service.request('GET', `/assets/${id}`, { token, headers });
  const statusFor = async (at: RunningTestService, id: string, token: string | null) =>
    (await at.request('GET', `/assets/${id}`, { token })).status;

  describe('settings that publish files', () => {
    const NAMES = ['project_logo', 'public_foreground', 'public_background', 'public_favicon'];
    const settings = [
      { collection: SETTINGS, action: 'read' },
      { collection: SETTINGS, action: 'update' },
    ] as const;
    before(() => requestAsAdmin(service, 'PATCH', '/settings', { project_name: 'Museum' }));
    afterEach(() =>
      requestAsAdmin(service, 'PATCH', '/settings', Object.fromEntries(NAMES.map((name) => [name, null]))),
    );

    it('a user cannot publish a file that he may not read, in any notation of its id', async () => {
      const secret = await file('secret');
      const { token } = await createUserWithPermissions(service, [
        ...settings,
        { collection: FILES, action: 'update' },
        { collection: FILES, action: 'read', permissions: { title: { _eq: 'Shown' } } },
      ]);
      const bodies = NAMES.flatMap((name) => [
        { [name]: secret },
        { [name]: secret.toUpperCase() },
        { [name]: { id: secret } },
      ]);
      for (const body of bodies) {
        const { status } = await service.request('PATCH', '/settings', { token, body });
        expect([body, status]).to.deep.equal([body, 403]);
        expect([body, await statusFor(service, secret, null)]).to.deep.equal([body, 403]);
      }
      const query = `mutation { update_settings(data: { project_logo: { id: "${secret}" } }) { project_name } }`;
      const { body } = await service.request('POST', '/graphql/system', { token, body: { query } });
      expect(codeOf(body)).to.equal('FORBIDDEN');
      expect(await statusFor(other, secret, null)).to.equal(403);
    });

    it('a user can publish files that he may read, and keep the published ones', async () => {
      const { token } = await createUserWithPermissions(service, [
        ...settings,
        { collection: FILES, action: 'create' },
        { collection: FILES, action: 'read', permissions: { title: { _eq: 'Shown' } }, fields: ['title'] },
      ]);
      const [secret, shown] = [await file('secret'), await file('shown', { title: 'Shown' })];
      const patch = async (body: object) => (await service.request('PATCH', '/settings', { token, body })).status;
      expect(await patch({ project_logo: shown })).to.equal(200);
      expect(await statusFor(service, shown, null)).to.equal(200);
      await requestAsAdmin(service, 'PATCH', '/settings', { project_logo: secret });
      expect(await patch({ project_logo: secret, project_name: 'Museum of sand' })).to.equal(200);
      expect(await patch({ public_favicon: { type: 'text/plain' } })).to.equal(200);
      expect(await patch({ project_logo: null })).to.equal(200);
      expect(await statusFor(service, secret, null)).to.equal(403);
    });
  });

  it('an unreadable file gives the same response as a missing one to every request', async () => {
    const image = await sharp({ create: { width: 4, height: 4, channels: 3, background: 'red' } })
      .png()
      .toBuffer();
    const secret = await file(image, { type: 'image/png', detected_type: 'image/png', width: 4, height: 4 });
    const plain = await get(secret);
    const tag = plain.headers.get('etag') as string;
    const absent = '3f2b8e0a-7d52-4c1b-9a57-0c8f6f1f4d11';
    const questions: [string, Record<string, string>][] = [
      ['', {}],
      ['', { 'if-none-match': tag }],
      ['', { 'if-none-match': '*' }],
      ['', { 'if-modified-since': new Date(Date.now() + 1e9).toUTCString() }],
      ['', { range: 'bytes=999999-' }],
      ['', { range: 'bytes=0-0', 'if-range': tag }],
      ['?width=2', {}],
      ['?width=x', {}],
      ['?key=system-small-cover', {}],
      ['?key=nothing', {}],
      ['?transforms=[["nothing"]]', {}],
      ['/secret.png?download', {}],
    ];
    for (const [query, headers] of questions) {
      const [known, unknown] = await Promise.all(
        [secret, absent].map(async (id) => {
          const reply = await service.request('GET', `/assets/${id}${query}`, { headers });
          return [reply.status, reply.body, [...reply.headers.keys()].sort()];
        }),
      );
      expect([query, headers, known]).to.deep.equal([query, headers, unknown]);
      expect(known?.[0]).to.equal(403);
    }
  });

  it('a change of permission, role or row applies in every process at once', async () => {
    const person = await createUserWithPermissions(service, [{ collection: FILES, action: 'read' }]);
    const id = await file('for some');
    const [permission] = await requestAsAdmin(service, 'GET', `/permissions?filter[role][_eq]=${person.role}`);
    const both = () => Promise.all([service, other].map((at) => statusFor(at, id, person.token)));
    const become = async (status: number) => {
      const until = Date.now() + 30_000;
      while (Date.now() < until && (await both()).some((one) => one !== status));
      expect(await both()).to.deep.equal([status, status]);
    };
    expect(await both()).to.deep.equal([200, 200]);
    const rule = { title: { _eq: 'Shown' } };
    await requestAsAdmin(other, 'PATCH', `/permissions/${permission.id}`, { permissions: rule });
    await become(403);
    await requestAsAdmin(other, 'PATCH', `/files/${id}`, { title: 'Shown' });
    await become(200);
    await service.database.query(`update platform_files set title = 'Hidden' where id = $1`, [id]);
    await become(403);
    await requestAsAdmin(other, 'PATCH', `/permissions/${permission.id}`, { permissions: null, fields: [] });
    await become(403);
    await requestAsAdmin(other, 'PATCH', `/roles/${person.role}`, { admin_access: true });
    await become(200);
    await requestAsAdmin(other, 'PATCH', `/roles/${person.role}`, { admin_access: false });
    await become(403);
    await requestAsAdmin(other, 'PATCH', `/users/${person.id}`, { status: 'suspended' });
    expect(await both()).to.not.include(200);
  });

  describe('types and names of rows', () => {
    // biome-ignore format: a table
    const ACTIVE = [
      'image/svg+xml', 'image/svg+xml;charset=utf-8', 'IMAGE/SVG+XML', 'text/html', 'Text/HTML; charset=utf-7', 'text/html ; x',
      ' text/html', 'text/html;x', 'application/xhtml+xml', 'application/vnd.wap.xhtml+xml', 'text/xml', 'application/xml',
      'application/rss+xml', 'application/mathml+xml', 'text/xsl', 'text/javascript', 'application/x-javascript', 'text/ecmascript',
      'multipart/x-mixed-replace; boundary=x', 'multipart/related', 'message/rfc822', 'application/x-shockwave-flash',
    ];

    it('every spelling of an active type gets the sandbox policy', async () => {
      const id = await file('plain', { type: 'text/plain', detected_type: null });
      for (const type of ACTIVE) {
        await requestAsAdmin(service, 'PATCH', `/files/${id}`, { type });
        const { headers } = await get(id);
        const policy = headers.get('content-security-policy') ?? '';
        expect([type, /; sandbox$/.test(policy), /script-src|allow-/.test(policy)]).to.deep.equal([type, true, false]);
        expect(headers.get('x-content-type-options')).to.equal('nosniff');
      }
    });

    it('a detected active type gets the sandbox although the declared type is harmless', async () => {
      const id = await file(DRAWING, { type: 'image/png', detected_type: 'image/svg+xml' });
      await requestAsAdmin(service, 'PATCH', `/files/${id}`, { type: 'image/jpeg', detected_type: 'image/png' });
      expect((await get(id)).headers.get('content-security-policy')).to.match(/; sandbox$/);
    });

    it('files of other types get a policy that allows no scripts', async () => {
      const id = await file('x');
      for (const type of [
        'application/pdf',
        'text/plain',
        'unknown/unknown',
        '*/*',
        'x/y',
        '',
        'video/mp4',
        'text/css',
      ]) {
        await requestAsAdmin(service, 'PATCH', `/files/${id}`, { type });
        const policy = (await get(id)).headers.get('content-security-policy');
        expect([type, policy]).to.satisfy(([, one]: string[]) => /^default-src 'none'; (?!.*script)/.test(one ?? ''));
      }
    });

    it('type and file name cannot inject headers', async () => {
      const id = await file('x');
      const evil = [
        '\r\nX-Evil: 1',
        '\nX-Evil: 1',
        '\rX-Evil: 1',
        '\u010d\u010aX-Evil: 1',
        '"; X-Evil=1',
        '\u2028',
        '\ud83d\ude00',
      ];
      for (const text of evil) {
        await requestAsAdmin(service, 'PATCH', `/files/${id}`, {
          type: `text/plain${text}`,
          filename_download: `a${text}.txt`,
        });
        const { status, headers } = await service.request('GET', `/assets/${id}?download`, {
          token: service.admin.token,
        });
        expect([text, status, headers.get('x-evil')]).to.deep.equal([text, 200, null]);
        expect(headers.get('content-type')).to.equal('application/octet-stream');
        expect(headers.get('content-disposition')).to.match(/^attachment; filename=[\x20-\x7e]+$/);
      }
      for (const name of [
        '../../etc/passwd',
        '..\\..\\boot.ini',
        '/etc/passwd',
        'x'.repeat(255),
        'ü'.repeat(255),
        '',
      ]) {
        await requestAsAdmin(service, 'PATCH', `/files/${id}`, { filename_download: name });
        const disposition = (await get(id)).headers.get('content-disposition');
        expect([name, disposition]).to.satisfy(([, one]: string[]) =>
          /^inline; filename=[^/\\]+$/.test((one ?? '').replace(/\*=UTF-8''.*/, '')),
        );
      }
    });
  });

  it('the cookie authenticates no other route by any spelling of the path', async () => {
    const { email, password } = service.admin;
    const login = await service.request('POST', '/auth/login', { body: { email, password, mode: 'cookie' } });
    const cookie = login.headers.get('set-cookie')?.split(';', 1)[0];
    const paths = [
      ...['/assets/../users/me', '/assets/%2e%2e/users/me', '/assets/..%2fusers%2fme', '//assets/../users/me'],
      ...[
        'http://x/assets/../users/me',
        '/assets/x/../../users/me',
        '/assets\\..\\users\\me',
        '/users/me?/assets/',
        '/users/me',
      ],
      ...['/ASSETS/../users/me', '/assets/;/users/me', '/assets/./', '/assets/', '/files', '/files?x=/assets/'],
    ];
    for (const path of paths) {
      const answer = await raw(
        service,
        `GET ${path} HTTP/1.1\r\nHost: x\r\nCookie: ${cookie}\r\nConnection: close\r\n\r\n`,
      );
      expect([path, /^HTTP\/1.1 (?:401|403|404) /.test(answer)]).to.deep.equal([path, true]);
      expect(answer).to.not.contain(email);
    }
  });

  describe('hostile transformations', () => {
    let image: string;
    before(async () => {
      const bytes = await sharp({ create: { width: 8, height: 8, channels: 4, background: 'red' } })
        .png()
        .toBuffer();
      image = await file(bytes, { type: 'image/png', detected_type: 'image/png', width: 8, height: 8 });
    });
    const make = async (transforms: unknown, format = 'png') => {
      const query = new URLSearchParams({ transforms: JSON.stringify(transforms), format });
      const { status, body } = await service.request('GET', `/assets/${image}?${query}`, {
        token: service.admin.token,
      });
      return [status, codeOf(body)];
    };

    it('unlisted operations and options that read files are rejected', async () => {
      for (const name of [
        '__proto__',
        'constructor',
        'toString',
        'toFile',
        'composite',
        'joinChannel',
        'pipe',
        'metadata',
        'boolean',
      ])
        expect([name, ...(await make([[name]]))]).to.deep.equal([name, 400, 'INVALID_QUERY']);
      const members = ['input', 'text', 'create', 'raw', 'icc', '__proto__', 'constructor', 'path'];
      for (const member of members) {
        const options = JSON.parse(`{"${member}":{"text":"x"}}`);
        for (const operation of ['resize', 'extend', 'flatten', 'toFormat']) {
          const args = operation === 'toFormat' ? ['png', options] : [options];
          expect([member, operation, ...(await make([[operation, ...args]]))]).to.deep.equal([
            ...[member, operation, 400, 'ILLEGAL_ASSET_TRANSFORMATION'],
          ]);
        }
      }
      for (const text of ['/etc/passwd', '../../etc/passwd']) {
        expect((await make([['tint', text]]))[0]).to.equal(400);
        expect((await make([['flatten', { background: text }]]))[0]).to.equal(400);
        expect((await make([['resize', { width: 4, kernel: text }]]))[0]).to.equal(400);
      }
    });

    it('oversized results are rejected in any order of operations', async () => {
      const oversizedTransforms = [
        [['resize', 1, 1e9]],
        [['resize', { width: 6001 }]],
        [['extend', 1e9]],
        [
          ['extend', { left: 3000 }],
          ['extend', { right: 3000 }],
        ],
        [['trim'], ['resize', { width: 1e9 }]],
        [['trim'], ['extend', 1e8]],
        [
          ['resize', 1, 1],
          ['resize', { width: 6000 }],
          ['extend', 1],
        ],
        [['blur', 1e9]],
        [['median', 1e9]],
        [['clahe', { width: 1e9, height: 1e9 }]],
        [['convolve', { width: 1e9, height: 1e9, kernel: [1] }]],
        [['linear', Array(600).fill(1), Array(600).fill(0)]],
      ];
      for (const transforms of oversizedTransforms)
        expect([transforms, ...(await make(transforms))]).to.deep.equal([
          ...[transforms, 400, 'ILLEGAL_ASSET_TRANSFORMATION'],
        ]);
    });

    it('keys such as __proto__ are no presets', async () => {
      for (const key of ['__proto__', 'constructor', 'toString', 'system-huge-cover', 'hasOwnProperty']) {
        const reply = await get(`${image}?key=${key}`);
        expect([key, reply.status, codeOf(reply.body)]).to.deep.equal([key, 400, 'INVALID_QUERY']);
      }
    });
  });
});

/** Sends `text` over a new TCP connection, and answers all that the service sends until the connection is closed. */
function raw(service: RunningTestService, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1', () => socket.write(text));
    socket.setEncoding('latin1').on('data', (part) => (answer += part));
    socket.on('close', () => resolve(answer)).on('error', reject);
  });
}
