import { randomBytes } from 'node:crypto';
import { open } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import sharp from 'sharp';
import { createCornersImage, type MediaFixture, openMediaFixture } from './media-fixture.ts';
import { mediaWorkersCpuTime } from './media-workers.ts';
import { exifBlock, withExif, withIptc, withXmp } from './metadata-blocks.ts';
import { mp3, mp4, wav } from './silent-media-files.ts';

const SVG = 'xmlns="http://www.w3.org/2000/svg"';

/** The EXIF block of a photograph, with invalid and oversized values of hostile and careless programs. */
const CAMERA = exifBlock(
  [
    [0x010f, 2, 'Tenon Optics'],
    [0x0110, 2, 'T 1\0\0\0\0'],
    [0x0112, 3, [6]],
    [0x0132, 2, '2024:05:06 07:08:09'],
    [0x013b, 2, 'a'.repeat(5000)],
  ],
  [
    [0x829a, 5, [1, 250]],
    [0x829d, 5, [28, 10]],
    [0x8827, 3, [400]],
    [0x9003, 2, '2024:05:06 07:08:09'],
    [0x9004, 2, '0000:00:00 00:00:00'],
    [0x9204, 10, [-1, 3]],
    [0x920a, 5, [50, 1]],
    [0x927c, 7, Buffer.alloc(2000, 1)],
    [0xa40b, 7, Buffer.alloc(1000, 7)],
    [0xa432, 5, [24, 1, 70, 1, 0, 0, 0, 0]],
    [0xa434, 2, 'lens \ud800'],
  ],
  [
    [0x0001, 2, 'N'],
    [0x0002, 5, [52, 1, 30, 1, 0, 1]],
    [0x0003, 2, 'E'],
    [0x0004, 5, [13, 1, 24, 1, 0, 1]],
    [0x0005, 1, [0]],
  ],
);

const XMP = `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:exif="http://ns.adobe.com/exif/1.0/" xmp:CreatorTool="A program" xmp:Rating="4" exif:FNumber="99/10">
<dc:subject><rdf:Bag><rdf:li>sea</rdf:li><rdf:li>sand</rdf:li></rdf:Bag></dc:subject></rdf:Description></rdf:RDF></x:xmpmeta>`;

describe('media.inspect', () => {
  let studio: MediaFixture;
  before(async () => {
    studio = await openMediaFixture();
  });
  after(() => studio.close());

  const inspected = async (name: string, bytes: string | Uint8Array, declared?: string) =>
    studio.media.inspect(await studio.put(name, bytes), declared);

  describe('type by content', () => {
    const contents: readonly (readonly [
      what: string,
      bytes: string | Buffer,
      type: string | undefined,
      declared?: string,
    ])[] = [
      ['nothing', '', undefined, 'image/png'],
      ['random bytes', Buffer.concat([Buffer.from([0x00, 0x01]), randomBytes(3000)]), undefined, 'image/png'],
      ['a drawing', `<svg ${SVG}/>`, 'image/svg+xml'],
      ['a drawing behind a mark', `\ufeff<svg ${SVG}/>`, 'image/svg+xml'],
      [
        'a drawing with everything in front',
        `<?xml version="1.0"?>\n<!-- <html> -->\n<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "x" [<!ENTITY a "<html>">]>\n<svg ${SVG}>`,
        'image/svg+xml',
      ],
      ['a drawing with a prefix', `<s:svg xmlns:s="http://www.w3.org/2000/svg"/>`, 'image/svg+xml'],
      ['a drawing behind a long comment', `<!--${'x'.repeat(30_000)}--><svg ${SVG}/>`, 'image/svg+xml'],
      ['a drawing in UTF-16', Buffer.from(`\ufeff<svg ${SVG}/>`, 'utf16le'), 'image/svg+xml'],
      ['a drawing that is called a photograph', `<svg ${SVG}/>`, 'image/svg+xml', 'image/jpeg'],
      ['a page', '<!DOCTYPE html><title>x</title>', 'text/html'],
      ['a page called an image', ' \n<HTML><script>alert(1)</script>', 'text/html', 'image/png'],
      ['a page that begins with a script', '<script>alert(1)</script>', 'text/html', 'text/plain'],
      ['a page behind a comment', '<!-- x --><body>', 'text/html'],
      ['a page with a drawing in it', '<html><body><svg></svg>', 'text/html'],
      ['a page of XML', '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"/>', 'application/xhtml+xml'],
      ['XML', '<?xml version="1.0"?>\n<note/>', 'application/xml'],
      ['XML in which a drawing is named', '<?xml version="1.0"?><note><svg/></note>', 'application/xml'],
      ['a document', '%PDF-1.7\n%âãÏÓ\n', 'application/pdf'],
      ['a document behind something else', `${'x\n'.repeat(100)}%PDF-1.4\n`, 'application/pdf', 'text/plain'],
      ['text', 'Just words, ünd more\n', 'text/plain', 'image/png'],
      ['text that speaks of tags', 'The <script> tag', 'text/plain', 'text/html'],
      ['a table', 'a,b\n1,2\n', 'text/csv', 'text/csv; charset=utf-8'],
      ['JSON', '{"a":1}', 'application/json', 'application/json'],
      ['text that is called a script', 'alert(1)', 'text/plain', 'text/javascript'],
      ['an archive', gzipSync('x'), 'application/gzip'],
      ['a program', Buffer.concat([Buffer.from('MZ'), Buffer.alloc(100)]), 'application/x-msdownload'],
    ];
    for (const [what, bytes, type, declared] of contents) {
      it(`${what}${declared ? ` declared as ${declared}` : ''} has the type ${type ?? '(unknown)'}`, async () => {
        expect((await inspected('file.png', bytes, declared)).type).to.equal(type);
      });
    }

    it('a missing file has no type', async () => {
      expect(await studio.media.inspect(studio.place('nowhere'))).to.deep.equal({});
      expect(await studio.media.inspect(studio.place(''))).to.deep.equal({});
    });
  });

  it('the size of an SVG is read from its root element', async () => {
    const sizes: readonly [string, number | undefined, number | undefined][] = [
      ['width="120" height="80px"', 120, 80],
      ['width="1in" height="2.54cm"', 96, 96],
      ['viewBox="0 0 300 150"', 300, 150],
      ['viewBox="0,0,300,150" width="100"', 100, 50],
      ['viewBox="0 0 300 150" width="100%" height="30"', 60, 30],
      ['width="100%"', undefined, undefined],
      ['width="1e400" height="2"', undefined, undefined],
      ['width="99999999999" height="2"', undefined, undefined],
    ];
    for (const [attributes, width, height] of sizes) {
      const found = await inspected(
        'drawing.svg',
        `<svg ${SVG} ${attributes}><image href="file:///etc/passwd"/></svg>`,
      );
      expect([found.width, found.height], attributes).to.deep.equal([width, height]);
    }
  });

  describe('duration of sound and video', () => {
    const files: readonly [string, () => Buffer, string, number][] = [
      ['WAV', () => wav(1500), 'audio/wav', 1500],
      ['MP3', () => mp3(100), 'audio/mpeg', 2612],
      ['MP4 with sound', () => mp4(2500, 'soun'), 'video/mp4', 2500],
      ['MP4 with pictures', () => mp4(3500, 'vide'), 'video/mp4', 3500],
      ['MP4 with its header at the end', () => mp4(4500, 'vide', 5_000_000), 'video/mp4', 4500],
    ];
    for (const [name, bytes, type, duration] of files) {
      it(`the duration of ${name} is ${duration} ms`, async () => {
        // The file extension is wrong on purpose: the type comes from the content.
        expect(await inspected('sound.flac', bytes())).to.deep.equal({ type, duration });
      });
    }

    it('a damaged header gives no duration', async () => {
      for (const bytes of [wav(100).subarray(0, 20), mp4(100, 'vide').subarray(0, 60), mp3(1).subarray(0, 100)])
        expect(await inspected('sound', bytes)).not.to.have.property('duration');
    });
  });

  describe('metadata of images', () => {
    it('EXIF values are grouped and are JSON that PostgreSQL can store', async () => {
      const image = await createCornersImage().jpeg().toBuffer();
      const found = await inspected('camera.jpg', withExif(image, CAMERA));
      expect(found).to.include({ type: 'image/jpeg', width: 20, height: 40 });
      const { ifd0, exif, gps } = found.metadata ?? {};
      expect(ifd0).to.include({
        Make: 'Tenon Optics',
        Model: 'T 1',
        Orientation: 6,
        ModifyDate: '2024-05-06T07:08:09',
      });
      expect(ifd0?.Artist).to.have.length(2000);
      expect(exif).to.deep.include({
        FNumber: 2.8,
        ISO: 400,
        FocalLength: 50,
        DateTimeOriginal: '2024-05-06T07:08:09',
      });
      expect(exif?.ExposureTime).to.equal(0.004);
      expect(exif?.ExposureCompensation).to.be.closeTo(-1 / 3, 1e-6);
      expect(exif).not.to.have.any.keys('MakerNote', 'DeviceSettingDescription');
      expect(gps).to.deep.include({
        GPSLatitudeRef: 'N',
        GPSLatitude: [52, 30, 0],
        GPSAltitudeRef: 0,
        latitude: 52.5,
        longitude: 13.4,
      });
      expect(JSON.stringify(found)).not.to.match(/\\u0000|\\ud8/);
    });

    it('IPTC, XMP and ICC are read, and XMP does not replace EXIF numbers', async () => {
      const image = withExif(await createCornersImage().withIccProfile('srgb').jpeg().toBuffer(), CAMERA);
      const bytes = withXmp(
        withIptc(image, [
          [5, 'A title'],
          [25, 'sea'],
          [25, 'sand'],
          [120, 'Söme wörds'],
        ]),
        XMP,
      );
      const { iptc, xmp, icc, exif } = (await inspected('program.jpg', bytes)).metadata ?? {};
      expect(iptc).to.deep.include({ ObjectName: 'A title', Keywords: ['sea', 'sand'], Caption: 'Söme wörds' });
      expect(xmp).to.deep.include({ CreatorTool: 'A program', Rating: 4, subject: ['sea', 'sand'] });
      expect(icc).to.include({ ColorSpaceData: 'RGB', ProfileDescription: 'sRGB' });
      expect(exif).to.include({ FNumber: 2.8 });
    });

    it('metadata is read from JPEG, PNG, WebP and AVIF', async () => {
      for (const format of ['jpeg', 'png', 'webp', 'avif'] as const) {
        const bytes = await createCornersImage()
          .withExif({ IFD0: { Make: 'Tenon Optics' }, IFD2: { FNumber: '28/10' } })
          .withXmp(XMP)
          .toFormat(format)
          .toBuffer();
        const { metadata } = await inspected(`telling.${format}`, bytes);
        expect(metadata?.ifd0, format).to.include({ Make: 'Tenon Optics' });
        expect(metadata?.exif, format).to.include({ FNumber: 2.8 });
        expect(metadata?.xmp, format).to.include({ CreatorTool: 'A program' });
      }
    });

    it('metadata is cut to 64 KiB', async () => {
      const many = Array.from({ length: 60 }, (_, at) => [25, `${at} ${'"'.repeat(900)}`] as const);
      const image = await createCornersImage().jpeg().toBuffer();
      const long = `<rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/" ${Array.from({ length: 400 }, (_, at) => `dc:n${at}="${'y'.repeat(100)}"`).join(' ')}/>`;
      const bytes = withXmp(
        withIptc(withExif(image, CAMERA), many),
        XMP.replace(/<rdf:Description[\s\S]*Description>/, long),
      );
      const { metadata } = await inspected('long.jpg', bytes);
      expect(JSON.stringify(metadata).length).to.be.within(10_000, 64 * 1024);
      expect(metadata?.ifd0).to.include({ Make: 'Tenon Optics' });
    });

    it('an image without metadata has none', async () => {
      const found = await inspected('plain.png', await createCornersImage().png().toBuffer());
      expect(found).to.deep.equal({ type: 'image/png', width: 40, height: 20 });
    });

    it('broken EXIF is left out', async () => {
      const image = await createCornersImage().jpeg().toBuffer();
      for (const broken of [CAMERA.subarray(0, 40), Buffer.concat([CAMERA.subarray(0, 14), randomBytes(500)])])
        expect(await inspected('broken.jpg', withExif(image, broken))).to.include({ type: 'image/jpeg', width: 40 });
    });
  });

  it('files of 2 GiB are inspected by their headers alone', async () => {
    const size = 2 * 1024 ** 3 + 4096;
    const heads: Readonly<Record<string, Buffer>> = {
      'image/jpeg': withExif(await createCornersImage().jpeg().toBuffer(), CAMERA),
      'image/png': await createCornersImage().png().toBuffer(),
      'image/tiff': await createCornersImage().tiff().toBuffer(),
      'image/webp': await createCornersImage().webp().toBuffer(),
      'image/gif': await createCornersImage().gif().toBuffer(),
      'audio/wav': wav(1000),
      'audio/mpeg': mp3(50),
      'video/mp4': mp4(1000, 'soun'),
      'application/pdf': Buffer.from('%PDF-1.7\n'),
    };
    for (const [type, head] of Object.entries(heads)) {
      const path = await studio.put('large', head);
      const file = await open(path, 'r+');
      await file.truncate(size);
      await file.close();
      const used = mediaWorkersCpuTime();
      const found = await studio.media.inspect(path);
      expect(found.type, type).to.equal(type);
      if (type.startsWith('image/')) expect(found.width, type).to.be.oneOf([20, 40]);
      expect(mediaWorkersCpuTime() - used, type).to.be.lessThan(3000);
    }
  });

  it('an animation has the size of one frame and the duration of all frames', async () => {
    const frames = ['red', 'green', 'blue'].map((background) => ({
      create: { width: 10, height: 6, channels: 3 as const, background },
    }));
    const film = (count: number) => sharp(frames.slice(0, count) as never, { join: { animated: true } });
    const gif = (delay: number[]) => film(delay.length).gif({ delay }).toBuffer();
    const size = { width: 10, height: 6 };
    const moving = await gif([50, 120, 1000]);
    expect(await inspected('moving.gif', moving)).to.deep.equal({ type: 'image/gif', ...size, duration: 1170 });
    const webp = await film(2)
      .webp({ delay: [40, 70] })
      .toBuffer();
    expect(await inspected('moving.webp', webp)).to.deep.equal({ type: 'image/webp', ...size, duration: 110 });
    // A frame without a delay counts 100 ms, as viewers show it.
    expect(await inspected('hasty.gif', await gif([0, 0, 30]))).to.include({ duration: 230 });
    for (const still of [await sharp(frames[0]).gif().toBuffer(), await sharp(frames[0]).webp().toBuffer()])
      expect(await inspected('still', still)).not.to.have.property('duration');
    // A truncated animation has the duration of its complete frames. Comment blocks are no frames.
    const lastFrame = moving.lastIndexOf(Buffer.from([0x21, 0xf9, 4]));
    expect(await inspected('cut.gif', moving.subarray(0, lastFrame + 3))).to.include({ duration: 170 });
    const comment = Buffer.from([0x21, 0xfe, 3, 0x2c, 0x3b, 0x21, 0]);
    const remarked = Buffer.concat([moving.subarray(0, lastFrame), comment, moving.subarray(lastFrame)]);
    expect(await inspected('remarked.gif', remarked)).to.include({ duration: 1170 });
  });
});
