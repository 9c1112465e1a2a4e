import { expect } from 'chai';
import {
  type AssetRoutesFixture,
  SERVED_FILE_ID,
  SERVED_FILE_MODIFIED_ON,
  startAssetRoutes,
} from './asset-routes-fixture.ts';

const SMALL = Buffer.from('0123456789');
const LARGE = Buffer.from(Array.from({ length: 600_000 }, (_, at) => at % 251));

describe('Range requests for assets', () => {
  let ground: AssetRoutesFixture;
  let large: AssetRoutesFixture;
  let empty: AssetRoutesFixture;
  before(async () => {
    ground = await startAssetRoutes({ objects: { 'a.bin': SMALL } });
    large = await startAssetRoutes({ objects: { 'a.bin': LARGE } });
    empty = await startAssetRoutes({ objects: { 'a.bin': Buffer.alloc(0) } });
  });
  after(async () => {
    for (const one of [ground, large, empty]) await one?.stop();
  });

  const get = (range: string, headers: Record<string, string> = {}, method = 'GET') =>
    ground.request(method, `/assets/${SERVED_FILE_ID}`, { headers: { range, ...headers } });

  const PARTS: readonly (readonly [range: string, contentRange: string, bytes: string])[] = [
    ['bytes=0-0', 'bytes 0-0/10', '0'],
    ['bytes=2-4', 'bytes 2-4/10', '234'],
    ['bytes=2-', 'bytes 2-9/10', '23456789'],
    ['bytes=9-', 'bytes 9-9/10', '9'],
    ['bytes=0-9', 'bytes 0-9/10', '0123456789'],
    ['bytes=8-100', 'bytes 8-9/10', '89'],
    ['bytes=-3', 'bytes 7-9/10', '789'],
    ['bytes=-100', 'bytes 0-9/10', '0123456789'],
    ['bytes=0-99999999999999999999999', 'bytes 0-9/10', '0123456789'],
    ['BYTES=1-1', 'bytes 1-1/10', '1'],
    ['bytes= 1-1 ', 'bytes 1-1/10', '1'],
  ];
  for (const [range, contentRange, bytes] of PARTS) {
    it(`Range ${range} is answered with 206`, async () => {
      const { status, headers, body } = await get(range);
      expect([status, headers.get('content-range'), String(body)]).to.deep.equal([206, contentRange, bytes]);
      expect(headers.get('content-length')).to.equal(String(bytes.length));
      expect(headers.get('accept-ranges')).to.equal('bytes');
      const head = await get(range, {}, 'HEAD');
      expect([
        head.status,
        head.headers.get('content-range'),
        head.headers.get('content-length'),
        head.body,
      ]).to.deep.equal([206, contentRange, String(bytes.length), undefined]);
    });
  }

  const REFUSED = ['10-', '10-12', '5-4', '-0', '-', 'abc', '1-x', 'x-1', '', '1', '--1', '99999999999999999999-'];
  for (const spec of REFUSED) {
    it(`Range bytes=${spec} is rejected with 416`, async () => {
      const { status, headers, body } = await get(`bytes=${spec}`);
      expect([status, headers.get('content-range')]).to.deep.equal([416, 'bytes */10']);
      expect(body.errors[0].extensions).to.include({ code: 'RANGE_NOT_SATISFIABLE' });
      expect(body.errors[0].extensions.range).to.have.all.keys('start', 'end');
      // The error response has no headers of the file.
      expect(headers.get('content-type')).to.match(/^application\/json/);
      expect(headers.get('cache-control')).to.equal('no-cache');
      for (const name of ['etag', 'last-modified', 'content-disposition'])
        expect(headers.get(name), name).to.equal(null);
      expect((await get(`bytes=${spec}`, {}, 'HEAD')).status).to.equal(416);
    });
  }

  for (const range of ['items=0-1', 'bytes=0-1,4-5', 'bytes=0-1,99-', 'bytes', 'nonsense']) {
    it(`Range "${range}" is ignored`, async () => {
      const { status, headers, body } = await get(range);
      expect([status, headers.get('content-range'), String(body)]).to.deep.equal([200, null, '0123456789']);
    });
  }

  it('ranges of a large object open it once each and together are the whole', async () => {
    const from = large.storageCalls.length;
    const parts: Buffer[] = [];
    for (let start = 0; start < LARGE.length; start += 200_000) {
      const end = Math.min(start + 199_999, LARGE.length - 1);
      const response = await fetch(`${large.url}/assets/${SERVED_FILE_ID}`, {
        headers: { range: `bytes=${start}-${end}` },
      });
      expect(response.status).to.equal(206);
      parts.push(Buffer.from(await response.arrayBuffer()));
    }
    expect(Buffer.concat(parts).equals(LARGE)).to.equal(true);
    expect(large.storageCalls.slice(from)).to.deep.equal([
      'stat a.bin',
      'open a.bin 0-199999',
      'open a.bin 200000-399999',
      'open a.bin 400000-599999',
    ]);
  });

  it('an empty file is served whole, and its ranges are rejected with 416', async () => {
    for (const range of [undefined, 'bytes=-5', 'bytes=0-0,1-1']) {
      const { status, headers, body } = await empty.request('GET', `/assets/${SERVED_FILE_ID}`, {
        headers: range ? { range } : {},
      });
      expect([status, headers.get('content-length'), body], range).to.deep.equal([200, '0', undefined]);
    }
    for (const range of ['bytes=0-', 'bytes=0-0', 'bytes=-0']) {
      const { status, headers } = await empty.request('GET', `/assets/${SERVED_FILE_ID}`, { headers: { range } });
      expect([status, headers.get('content-range')], range).to.deep.equal([416, 'bytes */0']);
    }
  });

  it('If-Range answers 206 if the validator matches, else 200', async () => {
    const date = SERVED_FILE_MODIFIED_ON.toUTCString();
    const earlier = new Date(SERVED_FILE_MODIFIED_ON.getTime() - 60_000).toUTCString();
    const later = new Date(SERVED_FILE_MODIFIED_ON.getTime() + 60_000).toUTCString();
    const cases: readonly (readonly [string, number])[] = [
      ['"a.bin"', 206],
      ['W/"a.bin"', 200],
      ['"other"', 200],
      [date, 206],
      [earlier, 200],
      [later, 200],
      ['nonsense', 200],
    ];
    for (const [condition, status] of cases)
      expect((await get('bytes=0-1', { 'if-range': condition })).status, condition).to.equal(status);
    // If-Range is ignored without Range, and Range is ignored, even if unsatisfiable, when If-Range does not match.
    expect(
      (await ground.request('GET', `/assets/${SERVED_FILE_ID}`, { headers: { 'if-range': '"x"' } })).status,
    ).to.equal(200);
    expect((await get('bytes=50-', { 'if-range': '"x"' })).status).to.equal(200);
  });
});
