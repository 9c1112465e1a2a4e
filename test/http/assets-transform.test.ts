import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type AssetReply, requestAsset, uploadSampleImage } from '../plugins/assets/transform/asset-requests.ts';
import {
  type Colour,
  createSampleImages,
  type DecodedImage,
  decodeImage,
  type SampleImage,
} from '../plugins/assets/transform/sample-images.ts';
import { type InProcessService, startService } from '../support/service.ts';

const sampleFiles = await createSampleImages();
const json = (...operations: unknown[]) => ({ transforms: JSON.stringify(operations) });

/** A transformation of an image of 60 × 40 pixels: query parameters, size of the result, and colours of its four quarters. */
interface Case {
  readonly query: Readonly<Record<string, string>>;
  readonly size: readonly [width: number, height: number];
  readonly quarters?: (source: readonly Colour[]) => readonly (Colour | undefined)[];
  /** The result has one frame, also where the source is animated. */
  readonly still?: true;
}

const same = (source: readonly Colour[]) => source;
const CASES: readonly Case[] = [
  { query: { width: '30' }, size: [30, 20], quarters: same },
  { query: { height: '10' }, size: [15, 10], quarters: same },
  { query: { width: '20', height: '20' }, size: [20, 20], quarters: same },
  { query: { width: '20', height: '20', fit: 'cover' }, size: [20, 20], quarters: same },
  { query: { width: '30', height: '30', fit: 'contain' }, size: [30, 30], quarters: same },
  { query: { width: '30', height: '30', fit: 'inside' }, size: [30, 20], quarters: same },
  { query: { width: '30', height: '30', fit: 'outside' }, size: [45, 30], quarters: same },
  { query: { width: '120' }, size: [120, 80], quarters: same },
  { query: { width: '120', withoutEnlargement: 'true' }, size: [60, 40], quarters: same },
  { query: { quality: '90' }, size: [60, 40], quarters: same },
  {
    query: { width: '20', height: '40', focal_point_x: '0', focal_point_y: '20' },
    size: [20, 40],
    quarters: ([a, , c]) => [a, a, c, c],
  },
  {
    query: { width: '20', height: '40', focal_point_x: '59', focal_point_y: '20' },
    size: [20, 40],
    quarters: ([, b, , d]) => [b, b, d, d],
  },
  {
    query: { width: '30', height: '10', focal_point_x: '30', focal_point_y: '0' },
    size: [30, 10],
    quarters: ([a, b]) => [a, b, a, b],
  },
  { query: json(['flop']), size: [60, 40], quarters: ([a, b, c, d]) => [b, a, d, c] },
  { query: json(['flip']), size: [60, 40], quarters: ([a, b, c, d]) => [c, d, a, b], still: true },
  {
    query: json(['extract', { left: 0, top: 0, width: 30, height: 20 }]),
    size: [30, 20],
    quarters: ([a]) => [a, a, a, a],
  },
  { query: json(['extend', { left: 20 }]), size: [80, 40] },
  { query: { ...json(['flop']), width: '30' }, size: [30, 20], quarters: ([a, b, c, d]) => [b, a, d, c] },
  { query: json(['resize', 30, 30, { fit: 'fill' }]), size: [30, 30], quarters: same },
  { query: json(['rotate']), size: [60, 40], quarters: same },
];

/** Whether the test knows the colours: those of a CMYK image depend on the decoder. */
const isCertain = (name: string) => name !== 'cmyk jpeg';

describe('assets: transformations', () => {
  let service: InProcessService;
  let root: string;
  const ids = new Map<string, string>();
  const seen = new Map<string, DecodedImage>();

  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'tenon-assets-'));
    service = await startService({ env: { STORAGE_LOCAL_ROOT: root } });
    for (const [name, sample] of Object.entries(sampleFiles)) {
      ids.set(name, await uploadSampleImage(service, sample));
      seen.set(name, await decodeImage(sample.bytes));
    }
  });
  after(async () => {
    await service?.stop();
    await rm(root, { recursive: true, force: true });
  });

  const get = (name: string, query: Readonly<Record<string, string>>, accept?: string): Promise<AssetReply> =>
    requestAsset(service, ids.get(name) as string, query, accept);
  const shown = async (name: string, query: Readonly<Record<string, string>>, accept?: string) => {
    const answer = await get(name, query, accept);
    expect(answer.status, answer.message).to.equal(200);
    const image = await decodeImage(answer.bytes);
    expect(answer.headers.get('content-type')).to.equal(`image/${image.format}`);
    return image;
  };

  for (const [name, sample] of Object.entries(sampleFiles))
    describe(name, () => {
      for (const { query, size, quarters, still } of CASES)
        it(`${name} with ${new URLSearchParams(query)} has the expected size and colours`, async () => {
          const source = seen.get(name) as DecodedImage;
          const image = await shown(name, query);
          expect([image.width, image.height]).to.deep.equal(size);
          expect(image.format).to.equal(source.format);
          expect(image.pages).to.equal(still ? 1 : source.pages);
          if (quarters && isCertain(name)) expect(image.quarters).to.deep.equal(quarters(source.quarters));
        });

      for (const format of ['jpg', 'png', 'webp', 'tiff', 'avif'])
        it(`${name} with format=${format} has that format`, async () => {
          const source = seen.get(name) as DecodedImage;
          const image = await shown(name, { format, quality: '95' });
          expect([image.width, image.height]).to.deep.equal([60, 40]);
          expect(image.format).to.equal(format === 'jpg' ? 'jpeg' : format);
          expect(image.pages).to.equal(format === 'webp' ? source.pages : 1);
          if (isCertain(name)) expect(image.quarters).to.deep.equal(source.quarters);
        });

      it(`${name} with key=system-small-cover has a format that Accept allows`, async () => {
        const accept = 'image/avif,image/webp,*/*;q=0.8';
        const key = 'system-small-cover';
        const image = await shown(name, { key }, accept);
        expect([image.width, image.height]).to.deep.equal([64, 64]);
        expect([image.format, image.pages]).to.deep.equal(['avif', 1]);
        const old = await shown(name, { key }, '*/*');
        const { format } = seen.get(name) as DecodedImage;
        expect(old.format).to.equal(['avif', 'webp', 'tiff'].includes(format) ? 'png' : format);
      });

      it(`${name} rotated by 90 degrees ignores the EXIF orientation`, async () => {
        const image = await shown(name, json(['rotate', 90]));
        const [a, b, c, d] = (seen.get(name) as DecodedImage).quarters;
        // The pixels of this sample are stored turned by 90 degrees, so the rotation makes it upright.
        const isLying = name === 'jpeg on its side';
        expect([image.width, image.height]).to.deep.equal(isLying ? [60, 40] : [40, 60]);
        if (isCertain(name)) expect(image.quarters).to.deep.equal(isLying ? [a, b, c, d] : [c, a, d, b]);
      });

      it(`${name} in greyscale has no colours`, async () => {
        const image = await shown(name, json(['grayscale']));
        const greys: readonly Colour[] = ['grey', 'black', 'white'];
        expect(image.quarters.filter((one) => !greys.includes(one))).to.deep.equal([]);
      });

      it(`${name} without transform parameters is served unchanged`, async () => {
        const queries: Record<string, string>[] = [{}, { download: '' }, { fit: 'cover' }];
        for (const query of queries) {
          const { bytes } = await get(name, query);
          expect(bytes.equals(sample.bytes)).to.equal(true);
        }
      });
    });

  it('a CMYK JPEG keeps its visible colours in sRGB', async () => {
    const image = await shown('cmyk jpeg', { width: '30', format: 'png' });
    expect(image.at(25, 18)).to.equal('white');
    expect(image.quarters).to.deep.equal((seen.get('cmyk jpeg') as DecodedImage).quarters);
  });

  it('fit=contain pads with black', async () => {
    const image = await shown('png', { width: '30', height: '30', fit: 'contain' });
    expect([image.at(15, 1), image.at(15, 28)]).to.deep.equal(['black', 'black']);
    expect([image.at(1, 7), image.at(28, 22)]).to.deep.equal(['red', 'white']);
  });

  it('the focal point of the file applies if the request has none', async () => {
    const id = await uploadSampleImage(service, sampleFiles.png as SampleImage);
    const body = { focal_point_x: 59, focal_point_y: 20 };
    expect((await service.request('PATCH', `/files/${id}`, { token: service.admin.token, body })).status).to.equal(200);
    const image = async (query: Record<string, string>) =>
      (await decodeImage((await requestAsset(service, id, { width: '20', height: '40', ...query })).bytes)).quarters;
    expect(await image({})).to.deep.equal(['lime', 'lime', 'white', 'white']);
    expect(await image({ focal_point_x: '0' })).to.deep.equal(['red', 'red', 'blue', 'blue']);
    expect(await image({ fit: 'inside' })).to.deep.equal(['red', 'lime', 'blue', 'white']);
  });

  it('a lower quality makes fewer bytes', async () => {
    const { default: sharp } = await import('sharp');
    const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const;
    const bytes = await sharp({ create: { width: 200, height: 200, channels: 3, background: 'red', noise } })
      .jpeg({ quality: 100 })
      .toBuffer();
    const id = await uploadSampleImage(service, { name: 'noise.jpg', type: 'image/jpeg', bytes });
    for (const format of ['jpg', 'webp', 'avif']) {
      const sizes = await Promise.all(
        ['1', '50', '100'].map(async (quality) => (await requestAsset(service, id, { format, quality })).bytes.length),
      );
      expect(sizes, format).to.deep.equal([...sizes].sort((a, b) => a - b));
      expect(new Set(sizes).size, format).to.equal(3);
    }
  });

  describe('format=auto', () => {
    it('format=auto depends on Accept and sends Vary: Accept', async () => {
      const answer = await get('jpeg', { format: 'auto' }, 'image/webp');
      expect(answer.headers.get('vary')?.split(/\s*,\s*/)).to.include('Accept');
      expect((await decodeImage(answer.bytes)).format).to.equal('webp');
      expect((await shown('jpeg', { format: 'auto' }, 'image/webp;q=0,*/*')).format).to.equal('jpeg');
      expect((await get('jpeg', { format: 'webp' })).headers.get('vary')?.split(/\s*,\s*/)).not.to.include('Accept');
    });

    it('format=auto keeps an animation if the result format can', async () => {
      const image = await shown('animated gif', { format: 'auto', width: '30' }, 'image/webp');
      expect([image.format, image.pages]).to.deep.equal(['webp', 3]);
    });
  });

  describe('storage_asset_transform', () => {
    const set = async (body: Record<string, unknown>) => {
      const reply = await service.request('PATCH', '/settings', { token: service.admin.token, body });
      expect(reply.status, JSON.stringify(reply.body)).to.equal(200);
    };
    after(() => set({ storage_asset_transform: 'all', storage_asset_presets: null }));

    it('a change of the policy applies to the next request', async () => {
      const storage_asset_presets = [
        { key: 'card', width: 12, height: 12, fit: 'cover', format: 'png', quality: null, transforms: [['flop']] },
        { key: 'wrong', width: 'wide' },
      ];
      await set({ storage_asset_transform: 'presets', storage_asset_presets });
      const card = await shown('jpeg', { key: 'card' });
      expect([card.format, card.width, card.height]).to.deep.equal(['png', 12, 12]);
      expect(card.quarters).to.deep.equal(['lime', 'red', 'white', 'blue']);
      expect((await get('jpeg', { width: '12' })).code).to.equal('INVALID_QUERY');
      const wrong = await get('jpeg', { key: 'wrong' });
      expect([wrong.status, wrong.code]).to.deep.equal([400, 'INVALID_QUERY']);
      expect(wrong.message).to.contain('"wrong"').and.to.contain('width');
      await set({ storage_asset_transform: 'none' });
      expect((await get('jpeg', { key: 'card' })).code).to.equal('INVALID_QUERY');
      expect((await get('jpeg', { key: 'system-small-cover' })).status).to.equal(200);
      expect((await get('jpeg', {})).status).to.equal(200);
    });
  });

  it('invalid parameters are rejected with INVALID_QUERY for every kind of file', async () => {
    const wrong: [Record<string, string>, string][] = [
      [{ width: '0' }, 'width'],
      [{ height: '1.5' }, 'height'],
      [{ fit: 'fill' }, 'fit'],
      [{ format: 'bmp' }, 'format'],
      [{ quality: '101' }, 'quality'],
      [{ withoutEnlargement: 'perhaps' }, 'withoutEnlargement'],
      [{ transforms: '[["toFile","/etc/passwd"]]' }, 'transforms'],
      [{ transforms: 'blur' }, 'transforms'],
      [{ transforms: JSON.stringify(Array(6).fill(['flop'])) }, '6 operations'],
      [{ key: 'poster' }, 'poster'],
      [{ key: 'system-small-cover', width: '3' }, 'width'],
    ];
    ids.set(
      'text',
      await uploadSampleImage(service, { name: 'a.txt', type: 'text/plain', bytes: Buffer.from('hello') }),
    );
    for (const name of ['jpeg', 'text'])
      for (const [query, part] of wrong) {
        const { status, code, message } = await get(name, query);
        expect([status, code], JSON.stringify(query)).to.deep.equal([400, 'INVALID_QUERY']);
        expect(message).to.contain(part);
      }
    const twice = await fetch(`${service.url}/assets/${ids.get('jpeg')}?width=1&width=2`, {
      headers: { authorization: `Bearer ${service.admin.token}` },
    });
    expect((await twice.json()) as object).to.have.nested.property(
      'errors[0].message',
      'width is given more than once.',
    );
  });
});
