import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as published from '@directus/sdk';
import { expect } from 'chai';
import { uploadSampleImage } from '../plugins/assets/transform/asset-requests.ts';
import { createSampleImages, decodeImage, SVG } from '../plugins/assets/transform/sample-images.ts';
import { createUserSender, type SendAsUser } from '../plugins/users/test-users.ts';
import { type InProcessService, startService } from '../support/service.ts';

// The types of @directus/sdk describe the system collections of Directus, not of this service.
// biome-ignore lint/suspicious/noExplicitAny: see above
type AnyJson = any;
const sdk: AnyJson = published;

const sampleFiles = await createSampleImages();
const TEXT = 'some text of no importance';

/** What the specification requires of /assets, tested over HTTP without a client library. */
describe('/assets follows the specification', () => {
  let service: InProcessService;
  let root: string;
  let admin: SendAsUser;
  const ids: Record<string, string> = {};

  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'tenon-assets-'));
    service = await startService({ env: { STORAGE_LOCAL_ROOT: root } });
    admin = createUserSender(service, service.admin.token);
    const still = await (await import('sharp')).default(sampleFiles.png?.bytes).gif().toBuffer();
    const all = {
      ...sampleFiles,
      gif: { name: 'plain.gif', type: 'image/gif', bytes: still },
      svg: { name: 'drawing.svg', type: 'image/svg+xml', bytes: Buffer.from(SVG) },
      text: { name: 'My notes.txt', type: 'text/plain', bytes: Buffer.from(TEXT) },
    };
    for (const [name, sample] of Object.entries(all)) ids[name] = await uploadSampleImage(service, sample);
  });
  after(async () => {
    await service?.stop();
    await rm(root, { recursive: true, force: true });
  });

  /** Requests one of the uploaded sample files by its name, and answers the bytes of the response unparsed. */
  async function get(name: string, query = '', headers: Record<string, string> = {}, method = 'GET') {
    const response = await fetch(`${service.url}/assets/${ids[name]}${query}`, {
      method,
      headers: { authorization: `Bearer ${service.admin.token}`, ...headers },
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    const header = (one: string) => response.headers.get(one);
    return { status: response.status, bytes, header, vary: header('vary')?.split(/\s*,\s*/) ?? [] };
  }
  const set = async (body: Record<string, unknown>) => {
    const reply = await admin('PATCH', '/settings', body);
    expect(reply.status, JSON.stringify(reply.body)).to.equal(200);
  };

  it('Content-Disposition is inline, or attachment with ?download, with a quoted name', async () => {
    expect((await get('text')).header('content-disposition')).to.equal('inline; filename="My notes.txt"');
    expect((await get('jpeg')).header('content-disposition')).to.equal('inline; filename="plain.jpg"');
    expect((await get('jpeg', '?download')).header('content-disposition')).to.equal('attachment; filename="plain.jpg"');
    expect((await get('jpeg', '?download&key=system-small-cover')).header('content-disposition')).to.equal(
      'attachment; filename="plain.jpg"',
    );
    expect((await get('jpeg', '?download=true&format=webp')).header('content-disposition')).to.equal(
      'attachment; filename="plain.webp"',
    );
  });

  it('any file name may follow the id', async () => {
    for (const tail of ['', '/', '/plain.jpg', '/another%20name.exe', '/x?width=30'])
      expect((await get('jpeg', tail)).status, tail).to.equal(200);
    expect((await get('jpeg', '/x/y')).status).to.equal(404);
  });

  it('HEAD answers the headers of GET without the bytes', async () => {
    for (const query of ['', '?download', '/name.png', '?width=20', '?key=system-small-cover'])
      for (const headers of [{}, { range: 'bytes=2-5' }] as Record<string, string>[]) {
        const [whole, head] = [await get('jpeg', query, headers), await get('jpeg', query, headers, 'HEAD')];
        expect(head.bytes).to.have.length(0);
        expect(head.status).to.equal(whole.status);
        for (const name of [
          'content-type',
          'content-length',
          'content-range',
          'last-modified',
          'etag',
          'cache-control',
          'content-disposition',
          'vary',
        ])
          expect(head.header(name), `${query} ${name}`).to.equal(whole.header(name));
        expect(Number(head.header('content-length'))).to.equal(whole.bytes.length);
        expect(Date.parse(head.header('last-modified') as string)).to.be.greaterThan(Date.now() - 600_000);
      }
    expect((await get('nothing', '', {}, 'HEAD')).status).to.equal(403);
  });

  it('Range requests are answered with 206 or 416', async () => {
    const size = TEXT.length;
    const parts: [string, number, string, string | null][] = [
      ['bytes=0-3', 206, 'some', `bytes 0-3/${size}`],
      ['bytes=0-0', 206, 's', `bytes 0-0/${size}`],
      ['bytes=5-', 206, TEXT.slice(5), `bytes 5-${size - 1}/${size}`],
      ['bytes=-10', 206, 'importance', `bytes ${size - 10}-${size - 1}/${size}`],
      ['bytes=20-1000', 206, TEXT.slice(20), `bytes 20-${size - 1}/${size}`],
    ];
    for (const [range, status, text, contentRange] of parts) {
      const answer = await get('text', '', { range });
      expect([answer.status, answer.bytes.toString(), answer.header('content-range')], range).to.deep.equal([
        status,
        text,
        contentRange,
      ]);
      expect(Number(answer.header('content-length'))).to.equal(text.length);
    }
    for (const range of [`bytes=${size}-`, 'bytes=9-3', 'bytes=x-y', 'bytes=-0']) {
      const { status, bytes, header } = await get('text', '', { range });
      expect([status, header('content-range')], range).to.deep.equal([416, `bytes */${size}`]);
      expect(JSON.parse(bytes.toString()).errors[0].extensions.code).to.equal('RANGE_NOT_SATISFIABLE');
    }
    expect((await get('text')).header('accept-ranges')).to.equal('bytes');
    // An image that is transformed for this very request is answered whole, whatever its Range header says.
    expect((await get('jpeg', '?width=20', { range: 'bytes=0-3' })).status).to.equal(200);
  });

  it('assets are cacheable for 30 days and answer 304 to matching validators', async () => {
    for (const query of ['', '?width=20']) {
      const { header } = await get('jpeg', query);
      expect(header('cache-control')).to.equal('private, max-age=2592000');
      const [etag, since] = [header('etag') as string, header('last-modified') as string];
      for (const headers of [{ 'if-none-match': etag }, { 'if-modified-since': since }])
        expect((await get('jpeg', query, headers as never)).status).to.equal(304);
      expect((await get('jpeg', query, { 'if-none-match': '"other"' })).status).to.equal(200);
    }
  });

  it('assets take a token in header or URL, and public files need none', async () => {
    const plain = (path: string) => fetch(`${service.url}${path}`).then(({ status }) => status);
    expect(await plain(`/assets/${ids.text}`)).to.equal(403);
    expect(await plain(`/assets/${ids.text}?access_token=${service.admin.token}`)).to.equal(200);
    expect(await plain(`/assets/${ids.text}?access_token=wrong`)).to.equal(401);
    await set({ project_logo: ids.jpeg });
    const logo = await fetch(`${service.url}/assets/${ids.jpeg}?key=system-small-cover`);
    expect([logo.status, logo.headers.get('cache-control')]).to.deep.equal([200, 'public, max-age=2592000']);
    await logo.arrayBuffer();
    expect(await plain(`/files/${ids.jpeg}`)).to.equal(403);
    await set({ project_logo: null });
    expect(await plain(`/assets/${ids.jpeg}`)).to.equal(403);
    const permission = { role: null, collection: 'platform_files', action: 'read', fields: ['*'] };
    const granted = await admin('POST', '/permissions', permission);
    expect(await plain(`/assets/${ids.text}`)).to.equal(200);
    await admin('DELETE', `/permissions/${granted.body.data.id}`);
    expect(await plain(`/assets/${ids.text}`)).to.equal(403);
  });

  describe('format=auto', () => {
    const BOTH = 'image/avif,image/webp,image/apng,image/*,*/*;q=0.8';
    // A client that accepts neither AVIF nor WebP gets JPEG and GIF in their own format, and every other format as PNG.
    const cases: [string, string, string][] = [
      ['jpeg', BOTH, 'avif'],
      ['png', BOTH, 'avif'],
      ['webp', BOTH, 'avif'],
      ['tiff', BOTH, 'avif'],
      ['avif', BOTH, 'avif'],
      ['gif', BOTH, 'avif'],
      ...['jpeg', 'png', 'webp', 'tiff', 'avif', 'gif'].map((name): [string, string, string] => [
        name,
        'image/webp,*/*',
        'webp',
      ]),
      ...['*/*', 'image/*', 'image/png', 'text/html'].flatMap((accept): [string, string, string][] => [
        ['jpeg', accept, 'jpeg'],
        ['png', accept, 'png'],
        ['webp', accept, 'png'],
        ['tiff', accept, 'png'],
        ['avif', accept, 'png'],
        ['gif', accept, 'gif'],
      ]),
    ];
    for (const [name, accept, format] of cases)
      it(`format=auto makes ${format} of ${name} for Accept: ${accept}`, async () => {
        const answer = await get(name, '?format=auto', { accept });
        expect([answer.status, answer.header('content-type')]).to.deep.equal([200, `image/${format}`]);
        expect((await decodeImage(answer.bytes)).format).to.equal(format);
        expect(answer.vary).to.include('Accept');
      });

    it('format=auto keeps all frames for WebP and one for AVIF', async () => {
      for (const name of ['animated gif', 'animated webp']) {
        for (const [accept, type, pages] of [
          ['image/webp,*/*', 'image/webp', 3],
          [BOTH, 'image/avif', 1],
        ] as const) {
          const { bytes, header } = await get(name, '?format=auto', { accept });
          expect([header('content-type'), (await decodeImage(bytes)).pages], name).to.deep.equal([type, pages]);
        }
        const { duration } = (await admin('GET', `/files/${ids[name]}?fields=duration`)).body.data;
        expect(duration, name).to.be.greaterThan(0);
      }
      for (const name of ['gif', 'webp', 'jpeg'])
        expect((await admin('GET', `/files/${ids[name]}?fields=duration`)).body.data.duration, name).to.equal(null);
    });

    it('format=auto serves other files unchanged, with Vary: Accept', async () => {
      for (const [name, type] of [
        ['text', 'text/plain'],
        ['svg', 'image/svg+xml'],
      ] as const)
        for (const query of ['?format=auto', '?key=system-small-cover']) {
          const answer = await get(name, query, { accept: BOTH });
          expect([answer.status, answer.header('content-type')]).to.deep.equal([200, type]);
          expect(answer.vary, query).to.include('Accept');
        }
      expect((await get('text', '?width=30')).vary).not.to.include('Accept');
      expect((await get('text')).vary).not.to.include('Accept');
    });
  });

  it('built-in presets work and reject further parameters', async () => {
    const sizes: Record<string, [number, number]> = {
      'system-small-cover': [64, 64],
      'system-small-contain': [64, 43],
      'system-medium-cover': [300, 300],
      'system-medium-contain': [300, 200],
      'system-large-cover': [800, 800],
      'system-large-contain': [800, 533],
    };
    for (const [key, size] of Object.entries(sizes)) {
      const { width, height, format } = await decodeImage((await get('jpeg', `?key=${key}`)).bytes);
      expect([width, height, format], key).to.deep.equal([...size, 'jpeg']);
      expect((await get('jpeg', `?key=${key}`, { accept: 'image/webp' })).header('content-type')).to.equal(
        'image/webp',
      );
      for (const other of ['width=1', 'height=1', 'fit=cover', 'format=png', 'quality=1', 'withoutEnlargement=true'])
        expect((await get('jpeg', `?key=${key}&${other}`)).status, other).to.equal(400);
      expect((await get('jpeg', `?key=${key}&transforms=[]`)).status).to.equal(400);
      expect((await get('jpeg', `?key=${key}&download&access_token=x`)).status).to.equal(200);
    }
  });

  describe('storage_asset_transform', () => {
    const storage_asset_presets = [
      // An admin app stores the empty fields of a preset as null.
      { key: 'card', fit: 'cover', width: 30, height: 30, quality: 80, format: 'png', transforms: [['grayscale']] },
      { key: 'plain', fit: null, width: 20, height: null, quality: null, format: null, transforms: null },
    ];
    after(() => set({ storage_asset_transform: 'all', storage_asset_presets: null }));

    const allowed: [string, string[], string[]][] = [
      ['all', ['key=system-small-cover', 'key=card', 'key=plain', 'width=20', 'format=auto', 'quality=3', ''], []],
      ['presets', ['key=system-small-cover', 'key=card', 'key=plain', ''], ['width=20', 'format=auto', 'quality=3']],
      ...['none', 'system', 'something else', 'presets of the product only', ''].map(
        (one): [string, string[], string[]] => [
          one,
          ['key=system-small-cover', ''],
          ['key=card', 'key=plain', 'width=20', 'format=auto', 'transforms=[["flip"]]'],
        ],
      ),
    ];
    for (const [policy, good, bad] of allowed)
      it(`the policy "${policy}" allows and rejects the expected requests`, async () => {
        await set({ storage_asset_transform: policy, storage_asset_presets });
        expect((await admin('GET', '/settings')).body.data.storage_asset_transform).to.equal(policy);
        for (const query of good) expect((await get('jpeg', `?${query}`)).status, query).to.equal(200);
        for (const query of [...bad, 'key=unknown']) {
          const { status, bytes } = await get('jpeg', `?${query}`);
          expect([status, JSON.parse(bytes.toString()).errors[0].extensions.code], query).to.deep.equal([
            400,
            'INVALID_QUERY',
          ]);
        }
      });
  });

  it('the Directus SDK reads assets and variants', async () => {
    const client = sdk.createDirectus(service.url).with(sdk.staticToken(service.admin.token)).with(sdk.rest());
    const blob = await client.request(
      sdk.readAssetBlob(ids.jpeg, { width: 30, height: 10, fit: 'cover', format: 'png' }),
    );
    const small = await decodeImage(Buffer.from(await blob.arrayBuffer()));
    expect([blob.type, small.width, small.height, small.format]).to.deep.equal(['image/png', 30, 10, 'png']);
    const query = { transforms: [['resize', { width: 12 }], ['grayscale']], withoutEnlargement: true, quality: 40 };
    const buffer = await client.request(sdk.readAssetArrayBuffer(ids.jpeg, query));
    expect((await decodeImage(Buffer.from(buffer))).width).to.equal(12);
    const keyed = await client.request(sdk.readAssetArrayBuffer(ids.jpeg, { key: 'system-small-cover' }));
    expect((await decodeImage(Buffer.from(keyed))).width).to.equal(64);
    const raw = await client.request(sdk.readAssetRaw(ids.jpeg));
    expect(Buffer.from(await new Response(raw).arrayBuffer()).equals(sampleFiles.jpeg?.bytes as Buffer)).to.equal(true);
    const missing = await client
      .request(sdk.readAssetBlob('11111111-1111-4111-8111-111111111111'))
      .catch((e: AnyJson) => e);
    expect(sdk.isDirectusError(missing, 'FORBIDDEN')).to.equal(true);
  });
});
