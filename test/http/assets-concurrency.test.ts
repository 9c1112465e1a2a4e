import { hash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type AssetReply, requestAsset, uploadSampleImage } from '../plugins/assets/transform/asset-requests.ts';
import { decodeImage, drawQuarters } from '../plugins/assets/transform/sample-images.ts';
import type { FreshDatabase } from '../support/database.ts';
import { filesIn } from '../support/files-in.ts';
import {
  createMigratedDatabase,
  type InProcessService,
  type SpawnedService,
  spawnService,
  startService,
} from '../support/service.ts';

/** Messages that the service logs once for each run of the image library, by the result of the run. */
const IMAGE_MADE = 'an image was made';
const IMAGE_FAILED = 'an image could not be made';

const times = <T>(count: number, work: () => T): T[] => Array.from({ length: count }, work);
const large = await drawQuarters(2400, 1800);
const photo = { name: 'photo.jpg', type: 'image/jpeg', bytes: await large.jpeg().toBuffer() };

async function expectAllEqual(answers: readonly AssetReply[]) {
  expect(new Set(answers.map(({ status }) => status)), answers[0]?.message).to.deep.equal(new Set([200]));
  expect(new Set(answers.map(({ bytes }) => hash('sha256', bytes))).size).to.equal(1);
  expect(new Set(answers.map(({ headers }) => headers.get('etag'))).size).to.equal(1);
}

describe('assets: many concurrent requests for one new variant', () => {
  let root: string;
  beforeEach(async () => void (root = await mkdtemp(join(tmpdir(), 'tenon-assets-'))));
  afterEach(() => rm(root, { recursive: true, force: true }));

  /** The image variants in storage, recognised by their names. */
  const variants = async () => (await filesIn(root)).filter((name) => /__\w+\.\w+$/.test(name));

  describe('one process', () => {
    let service: InProcessService;
    beforeEach(async () => {
      service = await startService({ env: { STORAGE_LOCAL_ROOT: root, LOG_LEVEL: 'debug' } });
    });
    afterEach(() => service?.stop());
    const countLogged = (what: string) => service.log.filter(({ msg }) => msg === what).length;

    it('one process makes the image once for fifty concurrent requests, and serves it to later ones', async () => {
      const id = await uploadSampleImage(service, photo);
      const query = { width: '1000', format: 'avif' };
      const answers = await Promise.all(times(50, () => requestAsset(service, id, query)));
      await expectAllEqual(answers);
      expect(await decodeImage((answers[0] as AssetReply).bytes)).to.include({
        width: 1000,
        height: 750,
        format: 'avif',
      });
      expect(countLogged(IMAGE_MADE)).to.equal(1);
      expect(await variants()).to.have.length(1);
      await expectAllEqual([answers[0] as AssetReply, await requestAsset(service, id, query)]);
      expect(countLogged(IMAGE_MADE), 'from storage').to.equal(1);
      // The same variant requested by other parameters is not made again; another width is.
      await requestAsset(service, id, { transforms: '[["toFormat","avif"]]', width: '1000', fit: 'cover' });
      expect(countLogged(IMAGE_MADE), 'in other words').to.equal(1);
      await requestAsset(service, id, { ...query, width: '1001' });
      expect(countLogged(IMAGE_MADE), 'another one').to.equal(2);
    });

    it('one process tries to transform a damaged image once for fifty concurrent requests', async () => {
      const bytes = photo.bytes.subarray(0, Math.floor(photo.bytes.length * 0.7));
      const id = await uploadSampleImage(service, { ...photo, bytes });
      const answers = await Promise.all(times(50, () => requestAsset(service, id, { width: '100' })));
      answers.push(await requestAsset(service, id, { width: '100' }));
      for (const { status, code, names } of answers)
        expect([status, code, names]).to.deep.equal([400, 'ILLEGAL_ASSET_TRANSFORMATION', ['resize']]);
      expect([countLogged(IMAGE_FAILED), countLogged(IMAGE_MADE)]).to.deep.equal([1, 0]);
      expect(await variants()).to.deep.equal([]);
    });
  });

  describe('two processes on one database and one storage', () => {
    let database: FreshDatabase;
    const running: SpawnedService[] = [];
    before(async () => void (database = await createMigratedDatabase('herd')));
    afterEach(() => Promise.all(running.splice(0).map((one) => one.stop())));
    after(() => database?.drop());

    it('two processes together make the image once when each gets 25 concurrent requests', async () => {
      const env = { STORAGE_LOCAL_ROOT: root, LOG_LEVEL: 'debug' };
      running.push(await spawnService({ database, env }));
      running.push(await spawnService({ database, env }));
      const [one, other] = running as [SpawnedService, SpawnedService];
      const id = await uploadSampleImage(one, photo);
      const queries: Record<string, string>[] = [{ width: '1200', format: 'avif' }, { width: '300' }];
      for (const [at, query] of queries.entries()) {
        const answers = await Promise.all(
          times(25, () => [requestAsset(one, id, query), requestAsset(other, id, query)] as const).flat(),
        );
        await expectAllEqual(answers);
        const matches = running.flatMap(
          (service) => service.output().match(new RegExp(`"msg":"${IMAGE_MADE}"`, 'g')) ?? [],
        );
        expect(matches).to.have.length(at + 1);
        expect(await variants()).to.have.length(at + 1);
      }
    });
  });
});
