import { expect } from 'chai';
import type { Failure } from '#kernel';
import { captureError } from '../../../support/test-plugins.ts';
import { createVariantChooser, type TransformPolicySettings } from './variant-choice-fixture.ts';

const choose = createVariantChooser();
const refusal = async (query: Record<string, unknown>, policy: TransformPolicySettings = {}) => {
  const failure = await captureError<Failure>(choose(query, { policy }));
  expect(failure.code).to.equal('INVALID_QUERY');
  return failure.message;
};
const card = { key: 'card', width: 40, height: 30, fit: 'inside', format: 'webp', quality: 50 };

describe('asset presets', () => {
  const SYSTEM = [
    ['system-small-cover', 64, 64],
    ['system-small-contain', 64, undefined],
    ['system-medium-cover', 300, 300],
    ['system-medium-contain', 300, undefined],
    ['system-large-cover', 800, 800],
    ['system-large-contain', 800, undefined],
  ] as const;
  for (const [key, width, height] of SYSTEM)
    it(`the preset ${key} exists and its format depends on Accept`, async () => {
      const { variant, varies } = await choose({ key }, { accept: 'image/webp' });
      expect(variant?.plan.operations).to.deep.equal([
        ['resize', height === undefined ? { width } : { fit: 'cover', height, width }],
      ]);
      expect(variant?.type).to.equal('image/webp');
      expect(varies).to.equal(true);
    });

  it('a preset of the settings is found by its key', async () => {
    const { variant, varies } = await choose({ key: 'card' }, { policy: { storage_asset_presets: [card] } });
    expect(variant?.plan).to.deep.include({ format: 'webp', quality: 50 });
    expect(variant?.plan.operations).to.deep.equal([['resize', { fit: 'inside', height: 30, width: 40 }]]);
    expect(varies).to.equal(false);
  });

  it('a preset may hold numbers as text, transforms as text or list, and null or "" for no value', async () => {
    for (const transforms of ['[["blur",2]]', [['blur', 2]]]) {
      const stored = {
        key: 'card',
        width: '40',
        height: null,
        fit: '',
        quality: null,
        format: null,
        withoutEnlargement: null,
        transforms,
      };
      const { variant } = await choose({ key: 'card' }, { policy: { storage_asset_presets: [stored] } });
      expect(variant?.plan.operations).to.deep.equal([
        ['resize', { width: 40 }],
        ['blur', 2],
      ]);
      expect(variant?.plan.format).to.equal('jpeg');
    }
  });

  it('a key and its parameters give the same object', async () => {
    const policy = { storage_asset_presets: [card] };
    const byKey = await choose({ key: 'card' }, { policy });
    const byName = await choose(
      { width: '40', height: '30', fit: 'inside', format: 'webp', quality: '50' },
      { policy },
    );
    expect(byKey.variant?.name).to.equal(byName.variant?.name);
  });

  it('an unknown key, or a key beside other parameters, is rejected with INVALID_QUERY', async () => {
    expect(await refusal({ key: 'poster' })).to.equal('There is no preset "poster".');
    expect(await refusal({ key: '' })).to.equal('key must be the name of a preset.');
    expect(await refusal({ key: 'system-small-cover', width: '5', format: 'png' })).to.equal(
      'key cannot be combined with width, format.',
    );
    expect(await refusal({ key: 'system-small-cover', transforms: '[]' })).to.contain(
      'cannot be combined with transforms',
    );
    expect(await refusal({ key: 'system-small-cover', focal_point_x: '1' })).to.contain('focal_point_x');
    for (const key of ['constructor', '__proto__', 'toString'])
      expect(await refusal({ key })).to.contain('There is no preset');
  });

  it('an invalid preset of the settings is rejected with INVALID_QUERY and the problem', async () => {
    const broken = [
      [{ width: 'wide' }, 'width must be an integer of at least 1'],
      [{ quality: 0 }, 'quality must be an integer from 1 to 100'],
      [{ fit: 'fill' }, 'fit must be one of'],
      [{ transforms: '[[' }, 'transforms is not JSON'],
      [{ transforms: [['toFile', '/etc/passwd']] }, 'transforms may not use'],
      [{ transforms: {} }, 'transforms must be a JSON array'],
      [{ width: [1] }, 'width must be'],
    ] as const;
    for (const [members, problem] of broken) {
      const message = await refusal({ key: 'card' }, { storage_asset_presets: [null, 3, { key: 'card', ...members }] });
      expect(message).to.contain(`The preset "card" in the settings is wrong: ${problem}`);
    }
    for (const presets of ['[]', {}, 7, [null, [], 'card']])
      expect(await refusal({ key: 'card' }, { storage_asset_presets: presets })).to.equal('There is no preset "card".');
  });

  it('a preset of the settings cannot replace a built-in one', async () => {
    const storage_asset_presets = [{ key: 'system-small-cover', width: 7 }];
    const { variant } = await choose({ key: 'system-small-cover' }, { policy: { storage_asset_presets } });
    expect(variant?.plan.operations).to.deep.equal([['resize', { fit: 'cover', height: 64, width: 64 }]]);
  });

  describe('storage_asset_transform', () => {
    const storage_asset_presets = [card];

    it('the policy "presets" allows keys only, built-in and configured', async () => {
      const policy = { storage_asset_transform: 'presets', storage_asset_presets };
      expect((await choose({ key: 'card' }, { policy })).variant).to.be.an('object');
      expect((await choose({ key: 'system-small-cover' }, { policy })).variant).to.be.an('object');
      expect(await refusal({ width: '40' }, policy)).to.contain('by presets only');
      expect(await refusal({ fit: 'cover' }, policy)).to.contain('by presets only');
      expect(await choose({}, { policy })).to.deep.equal({ varies: false });
    });

    for (const storage_asset_transform of ['none', 'x', '', 'ALL'])
      it(`the policy "${storage_asset_transform}" allows built-in keys only`, async () => {
        const policy = { storage_asset_transform, storage_asset_presets };
        expect((await choose({ key: 'system-small-cover' }, { policy })).variant).to.be.an('object');
        expect(await refusal({ key: 'card' }, policy)).to.contain('may not be used');
        expect(await refusal({ width: '40' }, policy)).to.contain('by presets only');
        expect(await choose({}, { policy })).to.deep.equal({ varies: false });
      });
  });
});
