import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { requestAsset, uploadSampleImage } from '../plugins/assets/transform/asset-requests.ts';
import {
  createPngDecodeBomb,
  createSampleImages,
  decodeImage,
  drawQuarters,
  SVG,
} from '../plugins/assets/transform/sample-images.ts';
import { mediaWorkersCpuTime } from '../plugins/media/media-workers.ts';
import { filesIn } from '../support/files-in.ts';
import { type InProcessService, type ServiceOptions, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const sampleFiles = await createSampleImages();
const large = await drawQuarters(1200, 900);

describe('assets: sources that cannot be transformed', () => {
  let service: InProcessService;
  let root: string;
  let temporary: string;
  const usual = process.env.TMPDIR;

  before(async () => {
    temporary = await mkdtemp(join(tmpdir(), 'tenon-temporary-'));
    process.env.TMPDIR = temporary;
  });
  after(async () => {
    if (usual === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = usual;
    await rm(temporary, { recursive: true, force: true });
  });
  const underway = async () => (await readdir(temporary)).filter((name) => name.startsWith('tenon-asset-'));

  async function begin(env: ServiceOptions['env'] = {}) {
    root = await mkdtemp(join(tmpdir(), 'tenon-assets-'));
    service = await startService({ env: { STORAGE_LOCAL_ROOT: root, LOG_LEVEL: 'debug', ...env } });
  }
  async function end() {
    await service?.stop();
    await rm(root, { recursive: true, force: true });
  }
  const put = (name: string, type: string, bytes: Buffer | string) =>
    uploadSampleImage(service, { name, type, bytes: Buffer.from(bytes as string) });
  const runs = () => service.log.filter(({ msg }) => msg === 'an image was made').length;
  const sql = (text: string, ...params: unknown[]) => service.database.query(text, params);

  describe('with default settings', () => {
    before(() => begin());
    after(end);

    for (const [name, type, bytes] of [
      ['drawing.svg', 'image/svg+xml', SVG],
      ['drawing called png', 'image/png', SVG],
      ['text called jpg', 'image/jpeg', 'hello '.repeat(100)],
      ['page called gif', 'image/gif', '<!doctype html><script>alert(1)</script>'],
      ['head of a jpeg and nothing else like one', 'image/jpeg', 'JFIF'],
      ['empty', 'image/png', ''],
    ] as const)
      it(`${name} is served unchanged`, async () => {
        const id = await put(name, type, bytes);
        const whole = await requestAsset(service, id);
        const queries: Record<string, string>[] = [{ width: '10' }, { format: 'webp' }, { key: 'system-small-cover' }];
        for (const query of [...queries, ...queries]) {
          const answer = await requestAsset(service, id, query);
          expect(answer.status, answer.message).to.equal(200);
          expect(answer.bytes.toString()).to.equal(bytes);
          for (const header of ['content-type', 'content-security-policy', 'x-content-type-options', 'etag'])
            expect(answer.headers.get(header), header).to.equal(whole.headers.get(header));
        }
        expect((await requestAsset(service, id, { width: '0' })).code).to.equal('INVALID_QUERY');
      });

    it('a file that is no image is served unchanged and tried once', async () => {
      const id = await put('text.txt', 'text/plain', 'no image at all');
      await sql(`update platform_files set type = 'image/png', detected_type = 'image/png' where id = $1`, id);
      for (const width of ['10', '11', '10']) {
        const answer = await requestAsset(service, id, { width });
        expect(answer.status, answer.message).to.equal(200);
        expect(answer.bytes.toString()).to.equal('no image at all');
      }
    });

    for (const [name, part] of [
      ['jpeg', 0.6],
      ['png', 0.7],
      ['webp', 0.6],
      ['tiff', 0.4],
      ['avif', 0.7],
      ['animated gif', 0.2],
    ] as const)
      it(`a truncated ${name} is rejected as damaged`, async () => {
        const { bytes, type, name: called } = sampleFiles[name] as (typeof sampleFiles)[string];
        const id = await put(called, type, bytes.subarray(0, Math.floor(bytes.length * part)));
        const answer = await requestAsset(service, id, { width: '10' });
        expect([answer.status, answer.code]).to.deep.equal([400, 'ILLEGAL_ASSET_TRANSFORMATION']);
        expect(answer.names).to.deep.equal(['resize']);
        expect(answer.message).to.be.a('string').and.not.to.contain('/');
        expect((await requestAsset(service, id)).status, 'its bytes are still there').to.equal(200);
      });

    it('a truncated GIF animation keeps its complete frames', async () => {
      const { bytes, type, name } = sampleFiles['animated gif'] as (typeof sampleFiles)[string];
      const id = await put(name, type, bytes.subarray(0, Math.floor(bytes.length * 0.7)));
      const image = await decodeImage((await requestAsset(service, id, { width: '30' })).bytes);
      expect([image.width, image.height, image.pages]).to.deep.equal([30, 20, 2]);
    });

    it('an image of 30,000 × 30,000 pixels is rejected by its row', async () => {
      const id = await put('bomb.png', 'image/png', createPngDecodeBomb(30_000));
      const used = mediaWorkersCpuTime();
      const answer = await requestAsset(service, id, { width: '10' });
      expect([answer.status, answer.code]).to.deep.equal([400, 'ILLEGAL_ASSET_TRANSFORMATION']);
      expect(answer.names).to.deep.equal(['width', 'height']);
      expect(answer.message).to.contain('6000');
      expect(mediaWorkersCpuTime() - used).to.be.below(1000);
      expect((await requestAsset(service, id, { key: 'system-small-cover' })).code).to.equal(
        'ILLEGAL_ASSET_TRANSFORMATION',
      );
      expect((await requestAsset(service, id)).status).to.equal(200);
    });

    it('an image of 30,000 × 30,000 pixels is rejected if its row is wrong', async () => {
      const id = await put('bomb.png', 'image/png', createPngDecodeBomb(30_000));
      await sql('update platform_files set width = null, height = 10 where id = $1', id);
      const used = mediaWorkersCpuTime();
      const answer = await requestAsset(service, id, { width: '10' });
      expect([answer.status, answer.code]).to.deep.equal([400, 'ILLEGAL_ASSET_TRANSFORMATION']);
      expect(answer.message).to.contain('30000');
      expect(mediaWorkersCpuTime() - used).to.be.below(2000);
    });

    it('results over ASSETS_TRANSFORM_IMAGE_MAX_OUTPUT_DIMENSION are rejected', async () => {
      const id = await uploadSampleImage(service, sampleFiles.jpeg as (typeof sampleFiles)[string]);
      const queries: Record<string, string>[] = [
        { width: '6001' },
        { height: '999999999' },
        { width: '10', height: '6001' },
        { width: '10', transforms: '[["extend",{"top":100000000,"background":"red"}]]' },
        { transforms: '[["resize",50000,50000]]' },
      ];
      for (const query of queries) {
        const answer = await requestAsset(service, id, query);
        expect([answer.status, answer.code], JSON.stringify(query)).to.deep.equal([
          400,
          'ILLEGAL_ASSET_TRANSFORMATION',
        ]);
        expect(answer.names).not.to.deep.equal([]);
      }
      const unchanged = await requestAsset(service, id, { width: '9000', withoutEnlargement: 'true' });
      expect(await decodeImage(unchanged.bytes)).to.include({ width: 60, height: 40 });
    });

    it('invalid arguments are rejected with the name of the operation', async () => {
      const id = await uploadSampleImage(service, sampleFiles.jpeg as (typeof sampleFiles)[string]);
      for (const one of [
        ['extract', { left: 50, top: 0, width: 30, height: 10 }],
        ['extract', null],
        ['blur', -3],
        ['gamma', 'strong'],
        ['recomb', [[1]]],
        ['convolve', { width: 3, height: 3, kernel: [1] }],
        ['extractChannel', 'purple'],
        ['tint', 'no such colour'],
        ['bandbool', 'nand'],
      ]) {
        const answer = await requestAsset(service, id, { transforms: JSON.stringify([one]) });
        expect([answer.status, answer.code], JSON.stringify(one)).to.deep.equal([400, 'ILLEGAL_ASSET_TRANSFORMATION']);
        expect(answer.names).to.deep.equal([one[0]]);
      }
    });

    it('a variant of a missing object is FORBIDDEN', async () => {
      const id = await uploadSampleImage(service, sampleFiles.png as (typeof sampleFiles)[string]);
      expect((await requestAsset(service, id, { width: '10' })).status).to.equal(200);
      await rm(join(root, `${id}.png`));
      expect((await requestAsset(service, id, { width: '10' })).status, 'made before').to.equal(200);
      const answer = await requestAsset(service, id, { width: '11' });
      expect([answer.status, answer.code]).to.deep.equal([403, 'FORBIDDEN']);
    });

    it('variants are removed with their file', async () => {
      const id = await uploadSampleImage(service, sampleFiles.png as (typeof sampleFiles)[string]);
      const of = async (extension = '') =>
        (await filesIn(root)).filter((name) => name.includes(id) && name.endsWith(extension));
      for (const width of ['10', '11']) await requestAsset(service, id, { width });
      expect(await of('.png')).to.have.length(3);
      const { token } = service.admin;
      expect((await service.request('DELETE', `/files/${id}`, { token })).status).to.equal(204);
      expect(await of()).to.deep.equal([]);
    });

    it('a file deleted during a transformation leaves no variant', async () => {
      const id = await uploadSampleImage(service, {
        name: 'large.png',
        type: 'image/png',
        bytes: await large.png().toBuffer(),
      });
      const slow = requestAsset(service, id, { format: 'avif', transforms: '[["median",9]]' });
      while ((await underway()).length === 0) await pause(1);
      const { token } = service.admin;
      expect((await service.request('DELETE', `/files/${id}`, { token })).status).to.equal(204);
      // 200 if the service had read all bytes before the delete.
      expect((await slow).status).to.be.oneOf([200, 403]);
      await until(async () => !(await filesIn(root)).some((name) => name.includes(id)));
      expect((await requestAsset(service, id, { width: '12' })).status).to.equal(403);
    });

    it('transformations leave no temporary files', async () => {
      expect(runs()).to.be.greaterThan(0);
      await until(async () => (await underway()).length === 0);
    });
  });

  describe('with ASSETS_INVALID_IMAGE_SENSITIVITY_LEVEL=none', () => {
    before(() => begin({ ASSETS_INVALID_IMAGE_SENSITIVITY_LEVEL: 'none' }));
    after(end);

    it('a truncated image is transformed as far as it can be read', async () => {
      const whole = await large.jpeg({ quality: 90 }).toBuffer();
      const id = await put('half.jpg', 'image/jpeg', whole.subarray(0, Math.floor(whole.length * 0.8)));
      const answer = await requestAsset(service, id, { width: '60' });
      expect(answer.status, answer.message).to.equal(200);
      const image = await decodeImage(answer.bytes);
      expect([image.width, image.height]).to.deep.equal([60, 45]);
      expect(image.quarters.slice(0, 2)).to.deep.equal(['red', 'lime']);
    });
  });

  describe('with narrow limits', () => {
    before(() =>
      begin({
        ASSETS_TRANSFORM_TIMEOUT: '2s',
        ASSETS_TRANSFORM_MAX_CONCURRENT: '1',
        ASSETS_TRANSFORM_IMAGE_MAX_DIMENSION: '1000',
        ASSETS_TRANSFORM_IMAGE_MAX_OUTPUT_DIMENSION: '950',
        ASSETS_TRANSFORM_MAX_OPERATIONS: '1',
      }),
    );
    after(end);

    it('each limit rejects a request', async () => {
      const wide = await uploadSampleImage(service, {
        name: 'wide.png',
        type: 'image/png',
        bytes: await large.png().toBuffer(),
      });
      expect(await requestAsset(service, wide, { width: '10' })).to.deep.include({ status: 400, names: ['width'] });
      const id = await uploadSampleImage(service, sampleFiles.jpeg as (typeof sampleFiles)[string]);
      expect((await requestAsset(service, id, { width: '950' })).status).to.equal(200);
      expect((await requestAsset(service, id, { width: '951' })).code).to.equal('ILLEGAL_ASSET_TRANSFORMATION');
      expect((await requestAsset(service, id, { transforms: '[["flip"],["flop"]]' })).code).to.equal('INVALID_QUERY');
    });

    it('a transformation over ASSETS_TRANSFORM_TIMEOUT fails for all waiting requests', async () => {
      const bytes = await (await drawQuarters(950, 950)).png().toBuffer();
      const id = await uploadSampleImage(service, { name: 'slow.png', type: 'image/png', bytes });
      // A median filter of this width takes about three times ASSETS_TRANSFORM_TIMEOUT.
      const crowd = Array.from({ length: 6 }, () => requestAsset(service, id, { transforms: '[["median",950]]' }));
      const [answer, ...others] = await Promise.all(crowd);
      expect([answer?.status, answer?.code]).to.deep.equal([400, 'ILLEGAL_ASSET_TRANSFORMATION']);
      expect(answer?.names).to.deep.equal(['median']);
      expect(answer?.message).to.contain('2000');
      for (const one of others) expect(one?.code).to.equal('ILLEGAL_ASSET_TRANSFORMATION');
    });

    it('transformations over ASSETS_TRANSFORM_MAX_CONCURRENT get 503 until others are done', async () => {
      const bytes = await (await drawQuarters(900, 900)).png().toBuffer();
      const id = await uploadSampleImage(service, { name: 'much.png', type: 'image/png', bytes });
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, at) => requestAsset(service, id, { width: String(40 + at) })),
      );
      const statuses = answers.map(({ status }) => status);
      expect(statuses).to.include(200);
      expect(statuses).to.include(503);
      const refused = answers.find(({ status }) => status === 503);
      expect(refused?.code).to.equal('SERVICE_UNAVAILABLE');
      expect((await requestAsset(service, id, { width: '39' })).status).to.equal(200);
    });
  });
});
