import { expect } from 'chai';
import { variantPrefix } from '../../../../plugins/storage/library.ts';
import { createVariantChooser } from './variant-choice-fixture.ts';

const choose = createVariantChooser();
const chosen = async (query: Record<string, string>, about: Parameters<typeof choose>[1] = {}) => {
  const { variant } = await choose(query, about);
  if (!variant) throw new Error('no variant');
  return variant;
};
const nameOf = async (query: Record<string, string>, about: Parameters<typeof choose>[1] = {}) =>
  (await chosen(query, about)).name;

describe('createImagePlan and createVariant', () => {
  it('equivalent queries give the same object name', async () => {
    const name = await nameOf({ width: '40', height: '30', format: 'webp', quality: '70' });
    expect(name).to.match(/^6e1f7f2e-0b5a-4d6b-9a53-3f3f1f0c7b11__[0-9a-f]{32}\.webp$/);
    const same: Record<string, string>[] = [
      { quality: '070', format: 'webp', height: '30', width: '40', fit: 'cover', withoutEnlargement: 'false' },
      { width: '40', height: '30', transforms: '[["webp",{"quality":70}]]' },
      { width: '40', height: '30', transforms: '[["toFormat","webp",{"quality":70}]]' },
      { width: '40', height: '30', format: 'webp', quality: '70', transforms: '[["rotate"]]', v: '2' },
    ];
    for (const query of same) expect(await nameOf(query), JSON.stringify(query)).to.equal(name);
    const spelled = (text: string) => nameOf({ transforms: text });
    expect(await spelled('[["modulate",{"hue":9,"brightness":2}],["grayscale",null]]')).to.equal(
      await spelled(' [ ["modulate", {"brightness":2, "hue":9}], ["greyscale"] ]'),
    );
    expect(await nameOf({ width: '40', fit: 'outside' })).to.equal(await nameOf({ width: '40' }));
  });

  it('the name of a variant starts with the variant prefix of its file', async () => {
    const id = '6e1f7f2e-0b5a-4d6b-9a53-3f3f1f0c7b11';
    for (const filename_disk of [`${id}.jpg`, `${id}-0a1b2c3d.jpg`, id, `${id}-0a1b2c3d`, 'a.tar.gz'])
      expect(await nameOf({ width: '4' }, { file: { filename_disk } })).to.satisfy((name: string) =>
        name.startsWith(variantPrefix(filename_disk)),
      );
  });

  it('every parameter that changes the bytes changes the object name', async () => {
    const queries: Record<string, string>[] = [
      { width: '40' },
      { height: '40' },
      { width: '40', height: '40' },
      { width: '40', height: '40', fit: 'inside' },
      { width: '40', withoutEnlargement: 'true' },
      { width: '40', quality: '50' },
      { width: '40', format: 'png' },
      { width: '40', transforms: '[["flip"]]' },
      { width: '40', transforms: '[["flip"],["flop"]]' },
      { width: '40', transforms: '[["rotate",90]]' },
      { width: '40', height: '40', focal_point_x: '1', focal_point_y: '1' },
    ];
    const names = new Set(await Promise.all(queries.map((query) => nameOf(query))));
    expect(names.size).to.equal(queries.length);
    expect(await nameOf({ width: '40' }, { file: { filename_disk: 'a-12345678.jpg' } })).to.match(/^a-12345678__/);
  });

  it('the sensitivity level changes the object name, the timeout does not', async () => {
    const query = { width: '40' };
    const { variant } = await createVariantChooser({ ASSETS_INVALID_IMAGE_SENSITIVITY_LEVEL: 'none' })(query);
    expect(variant?.name).not.to.equal(await nameOf(query));
    const other = await createVariantChooser({ ASSETS_TRANSFORM_TIMEOUT: 1 })(query);
    expect(other.variant?.name).to.equal(await nameOf(query));
  });

  it('a variant without a format keeps the format of its source', async () => {
    const types = { jpeg: 'jpg', png: 'png', webp: 'webp', tiff: 'tiff', avif: 'avif', gif: 'gif' };
    for (const [format, extension] of Object.entries(types)) {
      const variant = await chosen({ width: '5' }, { file: { detected_type: `image/${format}` } });
      expect([variant.plan.format, variant.type, variant.extension]).to.deep.equal([
        format,
        `image/${format}`,
        extension,
      ]);
    }
  });

  it('the source format is the detected type, else the declared type', async () => {
    const lie = { type: 'image/png', detected_type: 'image/svg+xml' };
    expect(await choose({ width: '5' }, { file: lie })).to.deep.equal({ varies: false });
    const unknown = { type: 'image/PNG; charset=binary', detected_type: null };
    expect((await chosen({ width: '5' }, { file: unknown })).plan.format).to.equal('png');
    for (const type of ['image/svg+xml', 'image/heic', 'image/bmp', 'text/html', 'image/', null])
      expect(await choose({ key: 'system-small-cover' }, { file: { type, detected_type: null } })).to.deep.equal({
        varies: true,
      });
  });

  it('the format parameter wins over formats in transforms, of which the last one counts', async () => {
    const transforms = '[["png"],["webp",{"quality":30,"lossless":true}]]';
    const last = (await chosen({ transforms })).plan;
    expect(last).to.deep.include({
      format: 'webp',
      quality: 30,
      operations: [['toFormat', 'webp', { lossless: true }]],
    });
    const named = (await chosen({ transforms, format: 'avif' })).plan;
    expect(named).to.deep.include({ format: 'avif', operations: [] });
    expect(named).not.to.have.property('quality');
  });

  it('the resize comes first, all other operations follow in order', async () => {
    const transforms = '[["blur",2],["flip"],["extend",{"top":3}]]';
    const { plan } = await chosen({ transforms, height: '20' });
    expect(plan.operations.map(([name]) => name)).to.deep.equal(['resize', 'blur', 'flip', 'extend']);
  });

  it('the orientation is applied unless transforms rotates by an angle', async () => {
    const oriented = async (transforms: string) => (await chosen({ width: '5', transforms })).plan.orient;
    expect(await oriented('[]')).to.equal(true);
    expect(await oriented('[["rotate"]]')).to.equal(true);
    expect(await oriented('[["rotate",90]]')).to.equal(false);
    expect(await oriented('[["rotate",0]]')).to.equal(false);
  });

  it('an animation is kept if source, format and operations allow it', async () => {
    const moving = async (type: string, query: Record<string, string>) =>
      (await chosen(query, { file: { detected_type: `image/${type}` } })).plan.animated;
    expect(await moving('gif', { width: '5' })).to.equal(true);
    expect(await moving('webp', { width: '5' })).to.equal(true);
    expect(await moving('gif', { format: 'webp' })).to.equal(true);
    expect(await moving('gif', { format: 'avif' })).to.equal(false);
    expect(await moving('gif', { format: 'png' })).to.equal(false);
    expect(await moving('png', { format: 'webp' })).to.equal(false);
    expect(await moving('gif', { transforms: '[["flop"]]' })).to.equal(true);
    for (const one of ['["flip"]', '["rotate",90]', '["trim"]', '["resize",{"width":5,"position":"entropy"}]'])
      expect(await moving('gif', { transforms: `[${one}]` }), one).to.equal(false);
  });

  it('quality is dropped for GIF', async () => {
    expect((await chosen({ quality: '5' }, { file: { detected_type: 'image/gif' } })).plan).not.to.have.property(
      'quality',
    );
    expect((await chosen({ quality: '5' })).plan.quality).to.equal(5);
  });

  it('the plan carries the limits of the settings', async () => {
    const { variant } = await createVariantChooser({
      ASSETS_TRANSFORM_IMAGE_MAX_DIMENSION: 1,
      ASSETS_TRANSFORM_IMAGE_MAX_OUTPUT_DIMENSION: 2,
      ASSETS_TRANSFORM_TIMEOUT: 3,
      ASSETS_INVALID_IMAGE_SENSITIVITY_LEVEL: 'truncated',
    })({ width: '5' });
    expect(variant?.plan).to.deep.include({ maxSource: 1, maxResult: 2, timeout: 3, failOn: 'truncated' });
  });

  describe('format=auto', () => {
    const AVIF = 'image/avif,image/webp,image/apng,*/*;q=0.8';
    const CASES: readonly [source: string, accept: string | undefined, expectedFormat: string, duration?: number][] = [
      ['jpeg', AVIF, 'avif'],
      ['jpeg', 'image/webp,*/*', 'webp'],
      ['jpeg', 'IMAGE/WEBP ; q=0.5', 'webp'],
      ['jpeg', 'image/avif;q=0, image/webp', 'webp'],
      ['jpeg', 'image/avif; Q=0.000,image/webp;q = 0', 'jpeg'],
      ['jpeg', '*/*', 'jpeg'],
      ['jpeg', 'image/*', 'jpeg'],
      ['jpeg', undefined, 'jpeg'],
      ['jpeg', '', 'jpeg'],
      ['jpeg', 'image/avifx,ximage/webp', 'jpeg'],
      ['png', undefined, 'png'],
      ['gif', undefined, 'gif'],
      ['avif', '*/*', 'png'],
      ['webp', '*/*', 'png'],
      ['tiff', '*/*', 'png'],
      ['avif', AVIF, 'avif'],
      ['tiff', AVIF, 'avif'],
      ['gif', AVIF, 'avif'],
      ['webp', AVIF, 'avif'],
      ['gif', AVIF, 'avif', 200],
      ['webp', 'image/webp', 'webp', 200],
    ];
    for (const [source, accept, expectedFormat, duration = null] of CASES)
      it(`format=auto makes ${expectedFormat} of ${duration ? 'animated ' : ''}${source} for Accept: ${accept ?? '(none)'}`, async () => {
        const { variant, varies } = await choose(
          { format: 'auto' },
          { accept, file: { detected_type: `image/${source}`, duration } },
        );
        expect(variant?.plan.format).to.equal(expectedFormat);
        expect(varies).to.equal(true);
      });

    it('only format=auto depends on Accept', async () => {
      expect((await choose({ format: 'webp' }, { accept: AVIF })).varies).to.equal(false);
      expect((await choose({ width: '5' }, { accept: AVIF })).variant?.plan.format).to.equal('jpeg');
    });
  });
});
