import { randomBytes } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { expect } from 'chai';
import sharp, { type Sharp } from 'sharp';
import { IMAGE_FORMATS } from '../../../plugins/media/contract.ts';
import {
  createCornersImage,
  createResizeOperation,
  type MediaFixture,
  openMediaFixture,
  readCornerColours,
} from './media-fixture.ts';
import { mediaWorkersCpuTime } from './media-workers.ts';
import { gifBomb, jpegBomb, pngBomb } from './oversized-images.ts';

/** Colours of the corners after the EXIF orientation is applied. */
const SEEN = ['red', 'green', 'blue', 'white'];

/** For each EXIF orientation, how the pixels are stored so that a viewer that applies the orientation shows the original. */
const STORED: Readonly<Record<number, (image: Sharp) => Sharp>> = {
  1: (image) => image,
  2: (image) => image.flop(),
  3: (image) => image.rotate(180),
  4: (image) => image.flip(),
  5: (image) => image.rotate(270).flop(),
  6: (image) => image.rotate(270),
  7: (image) => image.rotate(270).flip(),
  8: (image) => image.rotate(90),
};

async function oriented(orientation: number, format: 'jpeg' | 'webp' | 'tiff' = 'jpeg'): Promise<Buffer> {
  const plain = await createCornersImage().png().toBuffer();
  const stored = await STORED[orientation]?.(sharp(plain)).png().toBuffer();
  return sharp(stored).withMetadata({ orientation }).toFormat(format, { quality: 100 }).toBuffer();
}

/** An animation of three frames of one colour each. */
const animation = (format: 'gif' | 'webp', side = 16) => {
  const frames = ['#ff0000', '#00ff00', '#0000ff'].map((background) => ({
    create: { width: side, height: side, channels: 3 as const, background },
  }));
  return sharp(frames as never, { join: { animated: true } }).toFormat(format, {
    loop: 2,
    delay: [100, 200, 300],
  } as never);
};

describe('media.transform', () => {
  let studio: MediaFixture;
  before(async () => {
    studio = await openMediaFixture();
  });
  after(() => studio.close());

  describe('images with an EXIF orientation', () => {
    for (const orientation of [1, 2, 3, 4, 5, 6, 7, 8]) {
      it(`orientation ${orientation} is applied to the result`, async () => {
        const bytes = await oriented(orientation);
        const source = await studio.put(`oriented-${orientation}.jpg`, bytes);
        expect(await studio.media.inspect(source)).to.include({ type: 'image/jpeg', width: 40, height: 20 });

        const result = await studio.make(source);
        expect(result).to.include({ width: 40, height: 20 });
        expect(await readCornerColours(result.path)).to.deep.equal(SEEN);
        expect((await sharp(result.path).metadata()).orientation).to.equal(undefined);

        const stored = await studio.make(source, { orient: false });
        expect(await readCornerColours(stored.path)).to.deep.equal(await readCornerColours(bytes));
        expect([stored.width, stored.height]).to.deep.equal(orientation < 5 ? [40, 20] : [20, 40]);
      });
    }

    it('the orientation is applied before all operations', async () => {
      const source = await studio.put('turned.jpg', await oriented(6));
      const narrow = await studio.make(source, { operations: [createResizeOperation(20)] });
      expect(narrow).to.include({ width: 20, height: 10 });
      const part = await studio.make(source, { operations: [['extract', { left: 30, top: 0, width: 10, height: 5 }]] });
      expect(await readCornerColours(part.path)).to.deep.equal(Array(4).fill('green'));
      const turned = await studio.make(source, { operations: [['rotate', 90]] });
      expect(turned).to.include({ width: 20, height: 40 });
      expect(await readCornerColours(turned.path)).to.deep.equal(['blue', 'red', 'white', 'green']);
    });

    it('the orientation is applied in WebP and TIFF too', async () => {
      for (const format of ['webp', 'tiff'] as const) {
        const source = await studio.put(`oriented.${format}`, await oriented(6, format));
        expect(await studio.media.inspect(source), format).to.include({ width: 40, height: 20 });
        expect(await readCornerColours((await studio.make(source)).path), format).to.deep.equal(SEEN);
      }
    });
  });

  describe('images of every kind', () => {
    const kinds: Readonly<Record<string, { type: string; make: () => Sharp }>> = {
      jpeg: { type: 'image/jpeg', make: () => createCornersImage().jpeg({ quality: 100 }) },
      'progressive JPEG': {
        type: 'image/jpeg',
        make: () => createCornersImage().jpeg({ quality: 100, progressive: true }),
      },
      'CMYK JPEG': {
        type: 'image/jpeg',
        make: () => createCornersImage().toColourspace('cmyk').jpeg({ quality: 100 }),
      },
      'grey JPEG': { type: 'image/jpeg', make: () => createCornersImage().toColourspace('b-w').jpeg() },
      png: { type: 'image/png', make: () => createCornersImage().png() },
      '16-bit PNG': { type: 'image/png', make: () => createCornersImage().toColourspace('rgb16').png() },
      'PNG with a palette': { type: 'image/png', make: () => createCornersImage().png({ palette: true }) },
      'PNG with alpha': { type: 'image/png', make: () => createCornersImage().ensureAlpha(0.5).png() },
      gif: { type: 'image/gif', make: () => createCornersImage().gif() },
      webp: { type: 'image/webp', make: () => createCornersImage().webp({ lossless: true }) },
      avif: { type: 'image/avif', make: () => createCornersImage().avif({ lossless: true }) },
      tiff: { type: 'image/tiff', make: () => createCornersImage().tiff() },
      '16-bit TIFF': { type: 'image/tiff', make: () => createCornersImage().toColourspace('rgb16').tiff() },
    };
    for (const [name, { type, make }] of Object.entries(kinds)) {
      it(`${name} is recognised and transformed into each format`, async () => {
        const bytes = await make().toBuffer();
        // CMYK cannot represent the pure green corner, and a grey image has no colours.
        const isInk = name.startsWith('CMYK');
        const seen = SEEN.filter((colour) => !(isInk && colour === 'green'));
        const source = await studio.put(name.replaceAll(' ', '-'), bytes);
        expect(await studio.media.inspect(source)).to.include({ type, width: 40, height: 20 });
        for (const format of IMAGE_FORMATS) {
          const result = await studio.make(source, { format });
          expect(result, format).to.include({ width: 40, height: 20, size: (await stat(result.path)).size });
          const { format: read, compression, space, depth } = await sharp(result.path).metadata();
          expect(read === 'heif' ? compression : read, format).to.equal(format === 'avif' ? 'av1' : format);
          expect(space, format).to.be.oneOf(['srgb', 'b-w']);
          expect(depth, format).to.equal('uchar');
          if (name === 'grey JPEG') continue;
          const found = (await readCornerColours(result.path)).filter((_, at) => !(isInk && at === 1));
          expect(found, format).to.deep.equal(seen);
        }
      });
    }

    it('toColourspace rgb16 makes a PNG of 16 bits', async () => {
      const source = await studio.put('deep.png', await createCornersImage().toColourspace('rgb16').png().toBuffer());
      const result = await studio.make(source, { operations: [['toColourspace', 'rgb16']] });
      expect((await sharp(result.path).metadata()).depth).to.equal('ushort');
    });

    it('a result has no EXIF, XMP, IPTC or ICC', async () => {
      const source = await studio.put(
        'telling.jpg',
        await createCornersImage()
          .withExif({ IFD0: { Copyright: 'Ann' } })
          .withXmp('<x:xmpmeta xmlns:x="adobe:ns:meta/"></x:xmpmeta>')
          .withIccProfile('p3')
          .jpeg()
          .toBuffer(),
      );
      for (const format of IMAGE_FORMATS) {
        const { path } = await studio.make(source, { format });
        const { exif, xmp, iptc, icc } = await sharp(path).metadata();
        expect([exif, xmp, iptc, icc], format).to.deep.equal([undefined, undefined, undefined, undefined]);
      }
    });

    it('a higher quality makes larger files', async () => {
      const noise = randomBytes(64 * 64 * 3);
      const source = await studio.put(
        'noise.png',
        await sharp(noise, { raw: { width: 64, height: 64, channels: 3 } })
          .png()
          .toBuffer(),
      );
      for (const format of ['jpeg', 'webp', 'avif', 'tiff'] as const) {
        const tiff = format === 'tiff' ? [['tiff', { compression: 'jpeg' }] as const] : [];
        const [poor, good] = [
          await studio.make(source, { format, quality: 10, operations: tiff }),
          await studio.make(source, { format, quality: 95, operations: tiff }),
        ];
        expect(good.size, format).to.be.greaterThan(poor.size * 1.5);
      }
    });
  });

  describe('animations', () => {
    for (const from of ['gif', 'webp'] as const) {
      for (const to of ['gif', 'webp'] as const) {
        it(`an animation keeps frames, delays and loops from ${from} to ${to}`, async () => {
          const source = await studio.put(`moving.${from}`, await animation(from).toBuffer());
          expect(await studio.media.inspect(source)).to.include({ type: `image/${from}`, width: 16, height: 16 });
          const result = await studio.make(source, {
            animated: true,
            format: to,
            operations: [createResizeOperation(8, 8)],
          });
          expect(result).to.include({ width: 8, height: 8 });
          const { pages, pageHeight, delay, loop } = await sharp(result.path, { animated: true }).metadata();
          expect({ pages, pageHeight, delay, loop }).to.deep.equal({
            pages: 3,
            pageHeight: 8,
            delay: [100, 200, 300],
            loop: 2,
          });
          const last = await sharp(result.path, { page: 2 }).removeAlpha().raw().toBuffer();
          expect([...last.subarray(0, 3)].map((one) => Math.round(one / 255))).to.deep.equal([0, 0, 1]);
        });
      }
    }

    it('an animation becomes its first frame in still formats and with animated: false', async () => {
      const source = await studio.put('moving.gif', await animation('gif').toBuffer());
      for (const [format, animated] of [
        ['jpeg', true],
        ['png', true],
        ['avif', true],
        ['tiff', true],
        ['gif', false],
        ['webp', false],
      ] as const) {
        const result = await studio.make(source, { animated, format });
        expect(result, format).to.include({ width: 16, height: 16 });
        expect((await sharp(result.path).metadata()).pages ?? 1, format).to.equal(1);
        expect(await readCornerColours(result.path), format).to.deep.equal(Array(4).fill('red'));
      }
    });

    it('an animation with too many pixels is tooLarge, its first frame alone is not', async () => {
      const source = await studio.put('moving.gif', await animation('gif').toBuffer());
      const limits = { maxSource: 16, maxResult: 6000, format: 'webp' } as const;
      expect(await studio.make(source, { ...limits, animated: true })).to.include({ width: 16 });
      const many = await animation('gif').toBuffer();
      const long = await sharp(Array(6).fill(await sharp(many).png().toBuffer()), { join: { animated: true } })
        .gif({ keepDuplicateFrames: true } as never)
        .toBuffer();
      const longer = await studio.put('longer.gif', long);
      expect((await sharp(long).metadata()).pages).to.equal(6);
      expect(await studio.refusal(longer, { ...limits, animated: true })).to.include({ reason: 'tooLarge' });
      expect(await studio.make(longer, { ...limits, animated: false })).to.include({ width: 16 });
      const enlarged = { animated: true, format: 'webp', operations: [createResizeOperation(6000, 6000)] } as const;
      expect(await studio.refusal(longer, enlarged)).to.include({ reason: 'tooLarge' });
    });

    it('an animation with a turned orientation is transformed without turning', async () => {
      const source = await studio.put(
        'lying.webp',
        await animation('webp').withMetadata({ orientation: 6 }).toBuffer(),
      );
      const result = await studio.make(source, { animated: true, format: 'webp' });
      expect((await sharp(result.path, { animated: true }).metadata()).pages).to.equal(3);
    });

    it('an animation rotated by 45 degrees is invalid', async () => {
      const source = await studio.put('moving.gif', await animation('gif').toBuffer());
      const error = await studio.refusal(source, { animated: true, format: 'gif', operations: [['rotate', 45]] });
      expect(error).to.include({ reason: 'invalid' });
    });
  });

  describe('images that are too large', () => {
    const bombs: Readonly<Record<string, () => Buffer | Promise<Buffer>>> = {
      png: () => pngBomb(30_000),
      jpeg: () => jpegBomb(30_000),
      gif: () => gifBomb(30_000),
    };
    for (const [name, make] of Object.entries(bombs)) {
      it(`a ${name} of 30,000 × 30,000 pixels is measured and rejected without decoding`, async () => {
        const source = await studio.put(`bomb-${name}`, await make());
        const used = mediaWorkersCpuTime();
        expect(await studio.media.inspect(source)).to.include({ width: 30_000, height: 30_000 });
        const error = await studio.refusal(source, { operations: [createResizeOperation(10)] });
        expect(error).to.include({ reason: 'tooLarge' });
        expect(error.message).to.contain('30000 × 30000');
        expect(mediaWorkersCpuTime() - used).to.be.lessThan(1500);
      });
    }

    it('maxSource is compared with the longest side', async () => {
      const source = await studio.put('wide.png', await createCornersImage(400, 4).png().toBuffer());
      expect(await studio.refusal(source, { maxSource: 399 })).to.include({ reason: 'tooLarge' });
      expect(await studio.make(source, { maxSource: 400 })).to.include({ width: 400 });
    });
  });

  describe('damaged images', () => {
    /** Writes the first half of the bytes of a JPEG. */
    const truncated = async () => {
      const whole = await createCornersImage(400, 400).jpeg({ quality: 90 }).toBuffer();
      return studio.put('truncated.jpg', whole.subarray(0, whole.length / 2));
    };

    it('the size of a truncated image is read from its header', async () => {
      expect(await studio.media.inspect(await truncated())).to.include({ type: 'image/jpeg', width: 400, height: 400 });
    });

    it('failOn decides whether a truncated image is rejected as damaged', async () => {
      const source = await truncated();
      for (const failOn of ['truncated', 'error', 'warning'] as const)
        expect(await studio.refusal(source, { failOn }), failOn).to.include({ reason: 'damaged' });
      const result = await studio.make(source, { failOn: 'none' });
      expect(result).to.include({ width: 400, height: 400 });
      expect((await readCornerColours(result.path)).slice(0, 2)).to.deep.equal(['red', 'green']);
    });

    it('a truncated image of every format is damaged', async () => {
      for (const format of ['png', 'webp', 'tiff', 'avif'] as const) {
        const noise = sharp(randomBytes(100 * 100 * 3), { raw: { width: 100, height: 100, channels: 3 } });
        const whole = await noise.toFormat(format).toBuffer();
        const source = await studio.put(`half.${format}`, whole.subarray(0, whole.length / 2));
        expect(await studio.refusal(source), format).to.include({ reason: 'damaged' });
      }
      const header = await studio.put('header.jpg', Buffer.from('ffd8ffe000104a464946', 'hex'));
      expect(await studio.refusal(header)).to.include({ reason: 'damaged' });
    });
  });

  describe('files that are no images', () => {
    const others: Readonly<Record<string, () => string | Uint8Array>> = {
      'nothing.png': () => '',
      'random.jpg': () => Buffer.concat([Buffer.from([0]), randomBytes(5000)]),
      'text.png': () => 'Only a text\n',
      'page.png': () => '<!doctype html><html><script>alert(1)</script></html>',
      'drawing.svg': () => '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"/>',
      'document.jpg': () => '%PDF-1.7\n',
      'bitmap.png': () => Buffer.concat([Buffer.from('BM'), Buffer.alloc(200)]),
      'plain.png': () => 'P3\n1 1\n255\n255 0 0\n',
    };
    for (const [name, bytes] of Object.entries(others)) {
      it(`${name} is unsupported by its content`, async () => {
        expect(await studio.refusal(await studio.put(name, bytes()))).to.include({ reason: 'unsupported' });
      });
    }

    it('a missing file is unsupported', async () => {
      expect(await studio.refusal(studio.place('nowhere.png'))).to.include({ reason: 'unsupported' });
    });
  });

  it('an image is recognised by its content, not by its name', async () => {
    const source = await studio.put('really-png.jpg', await createCornersImage().png().toBuffer());
    expect(await studio.media.inspect(source, 'image/jpeg')).to.include({ type: 'image/png', width: 40 });
    expect(await readCornerColours((await studio.make(source, { format: 'jpeg' })).path)).to.deep.equal(SEEN);
  });

  it('a script behind an image is not in the result', async () => {
    const image = await createCornersImage().gif().toBuffer();
    const source = await studio.put('both.gif', Buffer.concat([image, Buffer.from('<script>alert(1)</script>')]));
    expect(await studio.media.inspect(source, 'text/html')).to.include({ type: 'image/gif' });
    const result = await studio.make(source, { format: 'gif' });
    expect((await readFile(result.path)).includes('script')).to.equal(false);
  });

  it('a transformation never overwrites an existing file', async () => {
    const source = await studio.put('source.png', await createCornersImage().png().toBuffer());
    const there = await studio.put('there.txt', 'mine');
    const plan = { ...(await import('./media-fixture.ts')).IMAGE_PLAN };
    const error = await studio.media.transform(source, there, plan).catch((one) => one);
    expect(error).to.include({ reason: 'broken' });
    expect(await readFile(there, 'utf8')).to.equal('mine');
    const nowhere = await studio.media.transform(source, studio.place('no/folder'), plan).catch((one) => one);
    expect(nowhere).to.include({ reason: 'broken', message: 'The result cannot be written' });
  });
});
