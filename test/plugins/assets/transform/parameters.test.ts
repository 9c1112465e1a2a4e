import { expect } from 'chai';
import type { Failure } from '#kernel';
import { captureError } from '../../../support/test-plugins.ts';
import { createVariantChooser } from './variant-choice-fixture.ts';

const choose = createVariantChooser();
const refusal = async (query: Record<string, unknown>) => {
  const failure = await captureError<Failure>(choose(query));
  expect(failure.code).to.equal('INVALID_QUERY');
  return failure.message;
};
const planned = async (query: Record<string, unknown>) => (await choose(query)).variant?.plan;

describe('transform parameters', () => {
  it('a query without transform parameters leaves the bytes unchanged', async () => {
    expect(await choose({})).to.deep.equal({ varies: false });
    expect(await choose({ access_token: 'x', download: '', v: '3', widht: '4' })).to.deep.equal({ varies: false });
  });

  it('parameters that change nothing leave the bytes unchanged', async () => {
    expect(await choose({ fit: 'contain' })).to.deep.equal({ varies: false });
    expect(await choose({ withoutEnlargement: 'true', focal_point_x: '3' })).to.deep.equal({ varies: false });
    expect(await choose({ transforms: '[]' })).to.deep.equal({ varies: false });
  });

  for (const name of ['width', 'height'])
    for (const value of ['0', '-1', '1.5', 'ten', '', ' 5', '1e3', '0x10', '+5', '99999999999'])
      it(`${name}=${value} is rejected with INVALID_QUERY`, async () => {
        expect(await refusal({ [name]: value })).to.equal(`${name} must be an integer of at least 1.`);
      });

  for (const value of ['0', '101', '-5', 'high', '80.5', ''])
    it(`quality=${value} is rejected with INVALID_QUERY`, async () => {
      expect(await refusal({ quality: value })).to.equal('quality must be an integer from 1 to 100.');
    });

  for (const value of ['-1', 'left', '0.5'])
    it(`focal_point_x=${value} is rejected with INVALID_QUERY`, async () => {
      expect(await refusal({ focal_point_x: value })).to.equal('focal_point_x must be an integer of at least 0.');
    });

  it('unknown values of fit and format are rejected with INVALID_QUERY', async () => {
    expect(await refusal({ fit: 'fill' })).to.equal('fit must be one of cover, contain, inside, outside.');
    expect(await refusal({ fit: 'COVER' })).to.contain('fit must be one of');
    expect(await refusal({ format: 'bmp' })).to.equal('format must be one of jpg, png, webp, tiff, avif, auto.');
    expect(await refusal({ format: '' })).to.contain('format must be one of');
    expect(await refusal({ format: 'constructor' })).to.contain('format must be one of');
  });

  it('withoutEnlargement takes true, false, 1, 0 and the bare name', async () => {
    for (const [value, meant] of [
      ['true', true],
      ['1', true],
      ['', true],
      ['false', undefined],
      ['0', undefined],
    ] as const) {
      const plan = await planned({ width: '10', withoutEnlargement: value });
      expect(plan?.operations).to.deep.equal([
        ['resize', { width: 10, ...(meant ? { withoutEnlargement: meant } : {}) }],
      ]);
    }
    expect(await refusal({ width: '10', withoutEnlargement: 'yes' })).to.equal(
      'withoutEnlargement must be true or false.',
    );
  });

  it('parameters that are repeated or are no plain value are rejected with INVALID_QUERY', async () => {
    expect(await refusal({ width: ['1', '2'] })).to.equal('width is given more than once.');
    expect(await refusal({ key: ['a', 'a'] })).to.equal('key is given more than once.');
    expect(await refusal({ transforms: ['[]', '[]'] })).to.equal('transforms is given more than once.');
    expect(await refusal({ width: { gt: '1' } })).to.equal('width must be an integer of at least 1.');
    expect(await refusal({ transforms: { a: '1' } })).to.contain('transforms must be a JSON array');
    expect(await refusal({ key: { a: 'b' } })).to.equal('key must be the name of a preset.');
  });

  it('parameters are validated for files that cannot be transformed too', async () => {
    const failure = await captureError<Failure>(choose({ width: '0' }, { file: { detected_type: 'application/pdf' } }));
    expect(failure.code).to.equal('INVALID_QUERY');
    expect(await choose({ width: '5' }, { file: { detected_type: 'application/pdf' } })).to.deep.equal({
      varies: false,
    });
  });

  describe('transforms', () => {
    it('transforms that is no JSON array of tuples is rejected with INVALID_QUERY', async () => {
      expect(await refusal({ transforms: '[["blur"' })).to.equal('transforms is not JSON.');
      for (const text of ['{}', '"blur"', '3', 'true', '["blur"]', '[[]]', '[[3]]', '[{"method":"blur"}]'])
        expect(await refusal({ transforms: text })).to.equal(
          'transforms must be a JSON array of [operation, ...arguments].',
        );
    });

    it('transforms with an unlisted operation is rejected with INVALID_QUERY', async () => {
      for (const name of [
        'toFile',
        'composite',
        'constructor',
        'withMetadata',
        'clone',
        'Blur',
        '__proto__',
        'raw',
        'gif',
      ])
        expect(await refusal({ transforms: JSON.stringify([[name]]) })).to.equal(
          `transforms may not use the operation "${name}".`,
        );
    });

    it('transforms takes every listed operation', async () => {
      const names = `jpeg png tiff webp avif resize extend extract trim rotate flip flop sharpen median blur flatten gamma
        negate normalise normalize clahe convolve threshold linear recomb modulate tint greyscale grayscale toColorspace
        toColourspace removeAlpha ensureAlpha extractChannel bandbool`;
      for (const name of names.split(/\s+/)) expect(await planned({ transforms: `[["${name}"]]` })).to.be.an('object');
      expect(await planned({ transforms: '[["toFormat","png"]]' })).to.be.an('object');
    });

    it('transforms takes ASSETS_TRANSFORM_MAX_OPERATIONS operations and no more', async () => {
      const many = (count: number) => JSON.stringify(Array.from({ length: count }, () => ['flop']));
      expect((await planned({ transforms: many(5) }))?.operations).to.have.length(5);
      expect(await refusal({ transforms: many(6) })).to.equal('transforms has 6 operations, 5 are allowed.');
      const failure = await captureError<Failure>(
        createVariantChooser({ ASSETS_TRANSFORM_MAX_OPERATIONS: 1 })({ transforms: many(2) }),
      );
      expect(failure.message).to.equal('transforms has 2 operations, 1 are allowed.');
    });

    it('transforms with deeply nested arguments is rejected with INVALID_QUERY', async () => {
      const text = `[["blur",${'['.repeat(8000)}${']'.repeat(8000)}]]`;
      expect(await refusal({ transforms: text })).to.contain('nested too deep');
      expect(await planned({ transforms: '[["recomb",[[1,0,0],[0,1,0],[0,0,1]]]]' })).to.be.an('object');
    });

    it('transforms with an unknown format or a quality out of range is rejected with INVALID_QUERY', async () => {
      for (const text of [
        '[["toFormat"]]',
        '[["toFormat","bmp"]]',
        '[["toFormat","auto"]]',
        '[["toFormat",{"id":"png"}]]',
      ])
        expect(await refusal({ transforms: text })).to.contain('toFormat in transforms must name one of');
      expect(await refusal({ transforms: '[["webp",{"quality":101}]]' })).to.contain('the quality of webp');
      expect(await refusal({ transforms: '[["toFormat","webp",7]]' })).to.contain('is an object of options');
    });
  });
});
