import { expect } from 'chai';
import {
  type AssetRoutesFixture,
  SERVED_FILE_ID,
  SERVED_FILE_MODIFIED_ON,
  startAssetRoutes,
} from './asset-routes-fixture.ts';

describe('conditional requests for assets', () => {
  let ground: AssetRoutesFixture;
  before(async () => {
    ground = await startAssetRoutes({ objects: { 'a.bin': Buffer.from('0123456789') } });
  });
  after(() => ground?.stop());

  const status = async (headers: Record<string, string>, method = 'GET') =>
    (await ground.request(method, `/assets/${SERVED_FILE_ID}`, { headers })).status;
  const at = (seconds: number) => new Date(SERVED_FILE_MODIFIED_ON.getTime() + seconds * 1000).toUTCString();

  it('If-None-Match with the ETag answers 304 and wins over If-Modified-Since', async () => {
    for (const tags of ['"a.bin"', 'W/"a.bin"', '"x", "a.bin"', 'W/"x",W/"a.bin"', '*', ' * ']) {
      expect(await status({ 'if-none-match': tags }), tags).to.equal(304);
      expect(await status({ 'if-none-match': tags, 'if-modified-since': at(-60) }), tags).to.equal(304);
      expect(await status({ 'if-none-match': tags }, 'HEAD'), tags).to.equal(304);
    }
    for (const tags of ['"x"', 'a.bin', '""', '"xa.bin"', 'nonsense'])
      expect(await status({ 'if-none-match': tags, 'if-modified-since': at(60) }), tags).to.equal(200);
  });

  it('If-Modified-Since answers 304 by whole seconds', async () => {
    const cases: readonly (readonly [string, number])[] = [
      [at(0), 304],
      [at(60), 304],
      [at(-1), 200],
      ['nonsense', 200],
    ];
    for (const [since, expected] of cases)
      expect(await status({ 'if-modified-since': since }), since).to.equal(expected);
  });

  it('a 304 ignores ranges and reads nothing from storage', async () => {
    const from = ground.storageCalls.length;
    expect(await status({ 'if-none-match': '"a.bin"', range: 'bytes=0-1' })).to.equal(304);
    expect(await status({ 'if-none-match': '"a.bin"', range: 'bytes=99-' })).to.equal(304);
    expect(ground.storageCalls.slice(from)).to.deep.equal([]);
  });

  it('a 304 has no body, and the headers that caches need', async () => {
    const { headers, body } = await ground.request('GET', `/assets/${SERVED_FILE_ID}`, {
      headers: { 'if-none-match': '*' },
    });
    expect(body).to.equal(undefined);
    for (const name of ['content-type', 'content-length', 'transfer-encoding'])
      expect(headers.get(name), name).to.equal(null);
    expect(headers.get('etag')).to.equal('"a.bin"');
    expect(headers.get('last-modified')).to.equal(SERVED_FILE_MODIFIED_ON.toUTCString());
    expect(headers.get('cache-control')).to.equal('public, max-age=2592000');
    expect(headers.get('vary')).to.equal('Origin, Cache-Control');
  });
});
