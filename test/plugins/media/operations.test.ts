import { expect } from 'chai';
import sharp from 'sharp';
import type { ImageOperation } from '../../../plugins/media/contract.ts';
import {
  createCornersImage,
  createResizeOperation,
  type MediaFixture,
  openMediaFixture,
  readCornerColours,
} from './media-fixture.ts';
import { mediaWorkersCpuTime } from './media-workers.ts';

const region = { left: 0, top: 0, width: 10, height: 5 };
const matrix = [
  [0, 1, 0],
  [1, 0, 0],
  [0, 0, 1],
];

/** Valid (`good`) and invalid (`bad`) arguments of each image operation. */
const OPERATIONS: Readonly<Record<string, { good: readonly unknown[][]; bad: readonly unknown[][] }>> = {
  toFormat: {
    good: [['png'], ['png', { palette: true }], ['jpg']],
    bad: [['bmp'], ['raw'], ['dz'], [], [{ id: 'png' }]],
  },
  jpeg: { good: [[], [{ progressive: true, mozjpeg: true }]], bad: [[{ quality: 0 }]] },
  png: { good: [[{ compressionLevel: 9 }]], bad: [[{ compressionLevel: 10 }]] },
  tiff: { good: [[{ compression: 'lzw' }]], bad: [[{ compression: 'none at all' }]] },
  webp: { good: [[{ lossless: true, effort: 1 }]], bad: [[{ effort: 7 }]] },
  avif: { good: [[{ effort: 1 }]], bad: [[{ chromaSubsampling: '9' }]] },
  resize: {
    good: [
      [10],
      [10, 10],
      [null, 10],
      [{ width: 10, fit: 'contain', background: { r: 1, g: 2, b: 3, alpha: 0.5 } }],
      [],
    ],
    bad: [[-1], ['ten'], [1.5], [10, 10, { fit: 'unknown' }], [10, 10, { kernel: 'unknown' }]],
  },
  extend: { good: [[2], [{ top: 1, left: 2, background: '#123456' }]], bad: [[-1], ['x'], [{ top: 'x' }], []] },
  extract: {
    good: [[region]],
    bad: [[{}], [{ ...region, width: 0 }], [{ ...region, left: 100 }], [{ ...region, height: 21 }]],
  },
  trim: { good: [[], [{ threshold: 5, background: 'red' }]], bad: [[{ threshold: -1 }], ['x']] },
  rotate: {
    good: [[90], [33, { background: 'white' }], [-180]],
    bad: [['x'], [{}], [33, { background: 'no colour' }]],
  },
  flip: { good: [[], [true]], bad: [] },
  flop: { good: [[]], bad: [] },
  sharpen: { good: [[], [{ sigma: 2 }]], bad: [[{ sigma: 0 }], [{ sigma: 1, m1: -1 }]] },
  median: { good: [[], [3]], bad: [[0], [1001], ['x']] },
  blur: { good: [[], [3], [{ sigma: 2 }]], bad: [[0], [1001], ['x']] },
  flatten: { good: [[{ background: '#fff' }]], bad: [[{ background: 'no colour' }]] },
  gamma: { good: [[], [2, 1.5]], bad: [[0.5], ['x']] },
  negate: { good: [[], [{ alpha: false }]], bad: [[{ alpha: 1 }]] },
  normalise: { good: [[], [{ lower: 5, upper: 95 }]], bad: [[{ lower: 100, upper: 0 }]] },
  normalize: { good: [[]], bad: [[{ lower: -1 }]] },
  clahe: { good: [[{ width: 3, height: 3 }]], bad: [[], [{ width: 0, height: 3 }]] },
  convolve: {
    good: [[{ width: 3, height: 3, kernel: [-1, 0, 1, -2, 0, 2, -1, 0, 1] }]],
    bad: [[], [{ width: 3, height: 3, kernel: [1] }], [{ width: 3, height: 3, kernel: 'x' }]],
  },
  threshold: { good: [[], [100, { greyscale: false }]], bad: [[256], ['x']] },
  linear: {
    good: [
      [0.5, 2],
      [
        [1, 2, 3],
        [0, 0, 0],
      ],
    ],
    bad: [['x'], [[1, 2], [1]]],
  },
  recomb: { good: [[matrix]], bad: [[], [[[1]]], ['x']] },
  modulate: { good: [[{ brightness: 2, saturation: 0.5, hue: 90, lightness: 5 }]], bad: [[{ hue: 'x' }], ['x']] },
  tint: { good: [['#ff8800'], [{ r: 1, g: 2, b: 3 }]], bad: [['no colour']] },
  greyscale: { good: [[]], bad: [] },
  grayscale: { good: [[]], bad: [] },
  toColorspace: { good: [['b-w'], ['srgb']], bad: [[1], []] },
  toColourspace: { good: [['lab']], bad: [[{}]] },
  removeAlpha: { good: [[]], bad: [] },
  ensureAlpha: { good: [[], [0.5]], bad: [[2], ['x']] },
  extractChannel: { good: [['green'], [0]], bad: [[5], ['x'], [-1]] },
  bandbool: { good: [['and'], ['eor']], bad: [['x'], []] },
};

describe('operations of media.transform', () => {
  let studio: MediaFixture;
  let source: string;
  before(async () => {
    studio = await openMediaFixture();
    source = await studio.put('source.png', await createCornersImage().png().toBuffer());
  });
  after(() => studio.close());

  for (const [name, { good, bad }] of Object.entries(OPERATIONS)) {
    it(`${name} accepts valid arguments and rejects others as invalid`, async () => {
      for (const args of good) {
        const operation = [name, ...args] as ImageOperation;
        const cornersAfter = await studio.make(source, { operations: [operation] });
        expect((await sharp(cornersAfter.path).metadata()).format, JSON.stringify(operation)).to.equal('png');
      }
      for (const args of bad) {
        const operation = [name, ...args] as ImageOperation;
        const error = await studio.refusal(source, { operations: [operation] });
        expect(error.reason, JSON.stringify(operation)).to.equal('invalid');
      }
    });
  }

  it('operations change pixels as sharp documents', async () => {
    const cornersAfter = async (...operations: ImageOperation[]) =>
      readCornerColours((await studio.make(source, { operations })).path);
    expect(await cornersAfter(['rotate', 180])).to.deep.equal(['white', 'blue', 'green', 'red']);
    expect(await cornersAfter(['flip'])).to.deep.equal(['blue', 'white', 'red', 'green']);
    expect(await cornersAfter(['flop'])).to.deep.equal(['green', 'red', 'white', 'blue']);
    expect(await cornersAfter(['recomb', matrix])).to.deep.equal(['green', 'red', 'blue', 'white']);
    expect(await cornersAfter(['extract', { left: 30, top: 0, width: 10, height: 5 }])).to.deep.equal(
      Array(4).fill('green'),
    );
    expect(await cornersAfter(['extend', { top: 5, left: 5, background: 'white' }])).to.deep.equal([
      'white',
      'white',
      'white',
      'white',
    ]);
    expect(await cornersAfter(['extractChannel', 'red'])).to.deep.equal(['white', 'black', 'black', 'white']);
    expect(await cornersAfter(['threshold', 250])).to.deep.equal(['black', 'black', 'black', 'white']);
    expect(await cornersAfter(createResizeOperation(80, 80, { fit: 'contain', background: 'red' }))).to.deep.equal(
      Array(4).fill('red'),
    );
    expect(await cornersAfter(createResizeOperation(20, 20, { fit: 'cover', position: 'left' }))).to.deep.equal([
      'red',
      'black',
      'blue',
      'black',
    ]);
  });

  it('resize, extend, rotate and extract give the expected sizes', async () => {
    const sizes: readonly [ImageOperation[], number, number][] = [
      [[createResizeOperation(20)], 20, 10],
      [[createResizeOperation(null, 5)], 10, 5],
      [[createResizeOperation(10, 10)], 10, 10],
      [[createResizeOperation({ width: 10, height: 10, fit: 'inside' })], 10, 5],
      [[createResizeOperation({ width: 10, height: 10, fit: 'outside' })], 20, 10],
      [[createResizeOperation({ width: 400, withoutEnlargement: true })], 40, 20],
      [[createResizeOperation(10), ['extend', 3]], 16, 11],
      [[['rotate', 90], createResizeOperation(10)], 10, 20],
      [[['extract', { left: 0, top: 0, width: 10, height: 10 }], createResizeOperation(40)], 40, 40],
      [[createResizeOperation(80), ['extract', { left: 70, top: 0, width: 10, height: 8 }]], 10, 8],
    ];
    for (const [operations, width, height] of sizes)
      expect(await studio.make(source, { operations }), JSON.stringify(operations)).to.include({ width, height });
  });

  it('of repeated operations the last one counts', async () => {
    expect(
      await studio.make(source, { operations: [createResizeOperation(10), createResizeOperation(20)] }),
    ).to.include({ width: 20, height: 10 });
  });

  it('format operations set options of the result format only', async () => {
    const noise = await studio.put(
      'grey.png',
      await sharp({
        create: {
          width: 200,
          height: 200,
          channels: 3,
          background: 'grey',
          noise: { type: 'gaussian', mean: 100, sigma: 50 },
        },
      } as never)
        .png()
        .toBuffer(),
    );
    const plain = await studio.make(noise, { format: 'jpeg' });
    const poor = await studio.make(noise, {
      format: 'jpeg',
      operations: [
        ['jpeg', { quality: 5 }],
        ['toFormat', 'webp'],
      ],
    });
    expect((await sharp(poor.path).metadata()).format).to.equal('jpeg');
    expect(poor.size).to.be.lessThan(plain.size / 2);
    const explicit = await studio.make(noise, { format: 'jpeg', quality: 80, operations: [['jpeg', { quality: 5 }]] });
    expect(explicit.size).to.equal(plain.size);
  });

  it('an unlisted operation is invalid', async () => {
    const others =
      'toFile toBuffer composite withMetadata withIccProfile joinChannel boolean raw tile clone timeout constructor __proto__ hasOwnProperty on pipe destroy metadata stats keepExif heif gif';
    for (const name of [...others.split(' '), '', 'RESIZE', 7 as never, null as never]) {
      const error = await studio.refusal(source, { operations: [[name, '/tmp/stolen.png']] });
      expect(error.reason, String(name)).to.equal('invalid');
    }
  });

  it('arguments that name files or other images are invalid', async () => {
    const forbiddenArguments: readonly unknown[] = [
      { input: '/etc/passwd' },
      { create: { width: 10, height: 10, channels: 3, background: 'red' } },
      { width: 10, icc: '/etc/passwd' },
      { background: { input: '/etc/passwd' } },
      { raw: { width: 1, height: 1, channels: 3 } },
      JSON.parse('{ "__proto__": { "width": 10 } }'),
      Array(2000).fill(1),
      JSON.parse('[[[[[[[[1]]]]]]]]'),
      'x'.repeat(1000),
    ];
    for (const one of forbiddenArguments) {
      const error = await studio.refusal(source, { operations: [['resize', one], ['flip']] });
      expect(error.reason, JSON.stringify(one).slice(0, 80)).to.equal('invalid');
    }
  });

  describe('results over maxResult', () => {
    const limits = { maxSource: 100, maxResult: 100 };
    const large: readonly ImageOperation[][] = [
      [createResizeOperation(101)],
      [createResizeOperation(10, 101)],
      [createResizeOperation(null, 51)],
      [createResizeOperation({ width: 101 })],
      [createResizeOperation(10, 60, { fit: 'outside' })],
      [createResizeOperation(10), ['extend', 50]],
      [['extend', { left: 61 }]],
      [['rotate', 90], createResizeOperation(60)],
      [createResizeOperation(101), ['extract', region]],
      [createResizeOperation(200, 100, { fit: 'contain', withoutEnlargement: true })],
      [createResizeOperation(100), ['rotate', 45]],
    ];
    for (const operations of large) {
      it(`${JSON.stringify(operations)} is tooLarge`, async () => {
        expect(await studio.refusal(source, { ...limits, operations })).to.include({ reason: 'tooLarge' });
      });
    }

    it('a result that is too large is rejected before decoding', async () => {
      const used = mediaWorkersCpuTime();
      expect(await studio.refusal(source, { operations: [createResizeOperation(100_000, 100_000)] })).to.include({
        reason: 'tooLarge',
      });
      expect(await studio.refusal(source, { operations: [['extend', 100_000]] })).to.include({ reason: 'tooLarge' });
      expect(mediaWorkersCpuTime() - used).to.be.lessThan(500);
    });

    it('a result within maxResult is accepted, although an option names a larger size', async () => {
      const fine: readonly ImageOperation[][] = [
        [createResizeOperation({ width: 1000, withoutEnlargement: true })],
        [createResizeOperation(100, 50)],
        [createResizeOperation({ width: 1000, height: 40, fit: 'inside' })],
        [createResizeOperation({ width: 40, height: 100, fit: 'fill' })],
        [createResizeOperation({ height: 100, fit: 'fill' })],
        [['extract', region], createResizeOperation(100)],
      ];
      for (const operations of fine)
        expect(
          (await studio.make(source, { ...limits, operations })).size,
          JSON.stringify(operations),
        ).to.be.greaterThan(0);
    });

    it('a result larger than WebP can hold is tooLarge', async () => {
      const plan = { maxResult: 20_000, format: 'webp', operations: [createResizeOperation(17_000, 1)] } as const;
      expect(await studio.refusal(source, plan)).to.include({ reason: 'tooLarge' });
    });
  });
});
