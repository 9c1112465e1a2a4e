import { Readable } from 'node:stream';
import { expect } from 'chai';
import { contentSecurityPolicyFor, toContentType } from '../../../../plugins/assets/serving/content-security-policy.ts';
import {
  type AssetRoutesFixture,
  type AssetRoutesOptions,
  SERVED_FILE_ID,
  SERVED_FILE_MODIFIED_ON,
  startAssetRoutes,
} from './asset-routes-fixture.ts';

const BYTES = Buffer.from('some bytes');

async function withGround<T>(
  options: Partial<AssetRoutesOptions>,
  work: (ground: AssetRoutesFixture) => Promise<T>,
): Promise<T> {
  const ground = await startAssetRoutes({ objects: { 'a.bin': BYTES }, ...options });
  try {
    return await work(ground);
  } finally {
    await ground.stop();
  }
}

const variant = { name: 'a__0f.webp', type: 'image/webp', extension: 'webp' } as never;

describe('headers of assets', () => {
  it('GET and HEAD answer with type, length, ETag, date and policy of the bytes', async () => {
    await withGround({ file: { type: 'text/plain; charset=utf-8' } }, async ({ request }) => {
      const get = await request('GET', `/assets/${SERVED_FILE_ID}`);
      const head = await request('HEAD', `/assets/${SERVED_FILE_ID}/any%20name.png`);
      expect([get.body, head.body]).to.deep.equal(['some bytes', undefined]);
      for (const { status, headers } of [get, head]) {
        expect(status).to.equal(200);
        expect(Object.fromEntries(headers)).to.include({
          'content-type': 'text/plain; charset=utf-8',
          'content-length': '10',
          'last-modified': SERVED_FILE_MODIFIED_ON.toUTCString(),
          etag: '"a.bin"',
          'accept-ranges': 'bytes',
          'content-disposition': 'inline; filename="A.bin"',
          'cache-control': 'public, max-age=2592000',
          'x-content-type-options': 'nosniff',
          'x-frame-options': 'SAMEORIGIN',
          'cross-origin-resource-policy': 'cross-origin',
        });
      }
    });
  });

  it('Last-Modified is left out if modified_on is null', async () => {
    await withGround({ file: { modified_on: null } }, async ({ request }) => {
      const { status, headers } = await request('GET', `/assets/${SERVED_FILE_ID}`, {
        headers: { 'if-modified-since': new Date().toUTCString() },
      });
      expect([status, headers.get('last-modified')]).to.deep.equal([200, null]);
    });
  });

  it('?download makes Content-Disposition an attachment', async () => {
    await withGround({ file: { filename_download: 'Bericht „Ökonomie“ 100%.pdf' } }, async ({ request }) => {
      const readDisposition = async (query: string) =>
        (await request('GET', `/assets/${SERVED_FILE_ID}${query}`)).headers.get('content-disposition') as string;
      for (const query of [
        '?download',
        '?download=',
        '?download=true',
        '?download=1',
        '?a=b&download',
        '?download=x&download=false',
      ])
        expect(await readDisposition(query), query).to.match(
          /^attachment; filename="Bericht \?\?konomie\? 100%\.pdf"; filename\*=UTF-8''/,
        );
      for (const query of ['', '?download=false', '?downloads', '?x=download'])
        expect(await readDisposition(query), query).to.match(/^inline; /);
    });
  });

  it('Content-Disposition has no path separators, line breaks or direction marks in its name', async () => {
    const names: readonly (readonly [string, string])[] = [
      ['../../etc/passwd', 'inline; filename=".._.._etc_passwd"'],
      ['a"b\\c.txt', 'inline; filename="a\\"b_c.txt"'],
      ['a\r\nSet-Cookie: x=1.txt', 'inline; filename="aSet-Cookie: x=1.txt"'],
      ['photo\u202egpj.exe', 'inline; filename="photogpj.exe"'],
      ['', 'inline; filename="file"'],
    ];
    for (const [name, expectedHeader] of names) {
      await withGround({ file: { filename_download: name } }, async ({ request }) => {
        expect((await request('GET', `/assets/${SERVED_FILE_ID}`)).headers.get('content-disposition'), name).to.equal(
          expectedHeader,
        );
      });
    }
  });

  it('a variant has its own type, ETag and file extension', async () => {
    const names: readonly (readonly [string, string])[] = [
      ['A.jpeg', 'A.webp'],
      ['archive.tar.gz', 'archive.tar.webp'],
      ['.hidden', '.hidden.webp'],
      ['name', 'name.webp'],
      ['v1. final version', 'v1. final version.webp'],
    ];
    for (const [name, expectedHeader] of names) {
      const variants: AssetRoutesOptions['variants'] = {
        choose: async (_file, _query, accept) => ({ variant, varies: accept === 'image/webp' }),
      };
      const variantsWithBytes = {
        ...variants,
        open: async () => ({ size: BYTES.length, bytes: Readable.from([BYTES]) }),
      };
      await withGround(
        { file: { filename_download: name, type: 'image/svg+xml' }, variants: variantsWithBytes },
        async ({ request }) => {
          const { status, headers, body } = await request('GET', `/assets/${SERVED_FILE_ID}?width=10`, {
            headers: { accept: 'image/webp', range: 'bytes=0-1' },
          });
          expect([status, body]).to.deep.equal([200, 'some bytes']);
          expect(headers.get('content-type')).to.equal('image/webp');
          expect(headers.get('etag')).to.equal('"a__0f.webp"');
          expect(headers.get('content-disposition')).to.equal(`inline; filename="${expectedHeader}"`);
          expect(headers.get('content-security-policy')).not.to.contain('sandbox');
          expect(headers.get('vary')?.split(', ')).to.include('Accept');
          const other = await request('GET', `/assets/${SERVED_FILE_ID}?width=10`);
          expect(other.headers.get('vary')?.split(', ')).not.to.include('Accept');
        },
      );
    }
  });

  it('a variant that cannot be made answers with the headers of the file', async () => {
    const variants = { choose: async () => ({ variant, varies: true }), open: async () => undefined };
    await withGround({ variants }, async ({ request }) => {
      const { headers, body } = await request('GET', `/assets/${SERVED_FILE_ID}?width=10`);
      expect([body, headers.get('etag')]).to.deep.equal(['some bytes', '"a.bin"']);
      expect(headers.get('vary')?.split(', ')).to.include('Accept');
      const again = { 'if-none-match': '"a.bin"' };
      expect((await request('GET', `/assets/${SERVED_FILE_ID}?width=10`, { headers: again })).status).to.equal(304);
    });
  });

  it('Cache-Control follows ASSETS_CACHE_TTL and ASSETS_CACHE_REVALIDATE', async () => {
    const control = (options: Partial<AssetRoutesOptions>) =>
      withGround(options, async ({ request }) =>
        (await request('GET', `/assets/${SERVED_FILE_ID}`)).headers.get('cache-control'),
      );
    expect(await control({ ttl: 90_500 })).to.equal('public, max-age=90');
    expect(await control({ ttl: 0 })).to.equal('public, max-age=0');
    expect(await control({ revalidate: true })).to.equal('public, max-age=0, must-revalidate');
    // When ip_access limits the Public role to addresses, shared caches must not store the response.
    expect(await control({ addresses: ['127.0.0.1'] })).to.equal('private, max-age=2592000');
  });

  it('missing bytes answer 403 without headers of the file', async () => {
    await withGround({ objects: {} }, async ({ request }) => {
      for (const headers of [{}, { range: 'bytes=0-1' }] as Record<string, string>[]) {
        for (const method of ['GET', 'HEAD']) {
          const reply = await request(method, `/assets/${SERVED_FILE_ID}`, { headers });
          expect(reply.status).to.equal(403);
          expect(reply.headers.get('etag')).to.equal(null);
          expect(reply.headers.get('content-security-policy')).to.equal("default-src 'none'; frame-ancestors 'none'");
        }
      }
    });
  });

  it('bytes replaced during the request answer with the headers of the new bytes', async () => {
    const objects = { 'b.bin': Buffer.from('other bytes') };
    const again = [{ filename_disk: 'b.bin', type: 'text/css' }];
    await withGround({ objects, again }, async ({ request }) => {
      for (const range of [undefined, 'bytes=0-4']) {
        const { headers, body } = await request('GET', `/assets/${SERVED_FILE_ID}`, {
          headers: range ? { range } : {},
        });
        expect(body).to.equal(range ? 'other' : 'other bytes');
        expect([headers.get('etag'), headers.get('content-type')]).to.deep.equal(['"b.bin"', 'text/css']);
      }
    });
    await withGround({ objects: {}, again }, async ({ request }) => {
      expect((await request('GET', `/assets/${SERVED_FILE_ID}`)).status).to.equal(403);
    });
  });

  it('a file replaced during the request is read again five times at most', async () => {
    const again = Array.from({ length: 10 }, (_, at) => ({ filename_disk: `${at}.bin` }));
    await withGround({ objects: { '4.bin': Buffer.from('the last ones') }, again }, async ({ request }) => {
      expect((await request('GET', `/assets/${SERVED_FILE_ID}`)).body).to.equal('the last ones');
    });
    await withGround({ objects: { '5.bin': Buffer.from('too late') }, again }, async ({ request }) => {
      expect((await request('GET', `/assets/${SERVED_FILE_ID}`)).status).to.equal(403);
    });
  });

  it('toContentType answers application/octet-stream for types that no header can hold', () => {
    for (const type of ['image/png', 'text/html; charset=utf-8', 'a/b;c=d', 'text/plain; charset="utf-8"'])
      expect(toContentType(type, null)).to.equal(type);
    for (const type of [null, '', 'image', 'image/png\r\nX: y', 'ä/b', 'a/b; c', 'a/b/c', 'image/ png'])
      expect(toContentType(type, 'utf-8'), String(type)).to.equal('application/octet-stream');
    expect(toContentType('text/plain', 'utf-8')).to.equal('text/plain; charset=utf-8');
    expect(toContentType('text/plain; charset=a', 'utf-8')).to.equal('text/plain; charset=a');
    expect(toContentType('text/plain', 'utf-8\r\nX: y')).to.equal('text/plain');
  });

  it('content that could run gets a sandbox policy, by declared or detected type', async () => {
    const active = [
      'image/svg+xml',
      'text/html',
      'TEXT/HTML; charset=utf-8',
      'application/xhtml+xml',
      'text/xml',
      'application/xml',
      'application/xml-dtd',
      'application/rss+xml',
      'text/javascript',
      'application/javascript',
      'application/ecmascript',
      'text/jscript',
      'text/xsl',
      'multipart/related',
      'message/rfc822',
      'application/x-shockwave-flash',
    ];
    for (const type of active) {
      expect(contentSecurityPolicyFor(type, null), type).to.match(/^default-src 'none'; .*; sandbox$/);
      expect(contentSecurityPolicyFor('image/png', type), type).to.contain('; sandbox');
    }
    const passive = [
      'image/png',
      'application/pdf',
      'video/mp4',
      'text/plain',
      'application/octet-stream',
      'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
      'font/woff2',
      null,
    ];
    for (const type of passive) expect(contentSecurityPolicyFor(type), String(type)).not.to.contain('sandbox');
    for (const type of [...active, ...passive])
      expect(contentSecurityPolicyFor(type)).not.to.match(/script-src|unsafe-eval/);
    const file: AssetRoutesOptions['file'] = { type: 'image/png', detected_type: 'image/svg+xml' };
    await withGround({ file }, async ({ request }) => {
      const { headers } = await request('GET', `/assets/${SERVED_FILE_ID}`);
      expect(headers.get('content-security-policy')).to.contain('; sandbox');
    });
  });
});
