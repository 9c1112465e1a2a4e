import { expect } from 'chai';
import { buildFocalPointCoverOperations } from '../../../../plugins/assets/transform/focal-point.ts';
import { createVariantChooser } from './variant-choice-fixture.ts';

const SOURCE = { width: 400, height: 300 };

describe('buildFocalPointCoverOperations, the cut around a focal point', () => {
  it('the focal point is as near to the middle of the result as the edges allow', () => {
    expect(buildFocalPointCoverOperations({ x: 300, y: 150 }, SOURCE, { width: 100, height: 150 })).to.deep.equal([
      ['resize', { fit: 'fill', height: 150, width: 200 }],
      ['extract', { height: 150, left: 100, top: 0, width: 100 }],
    ]);
    expect(buildFocalPointCoverOperations({ x: 200, y: 150 }, SOURCE, { width: 100, height: 150 })[1]).to.deep.equal([
      'extract',
      { height: 150, left: 50, top: 0, width: 100 },
    ]);
    expect(buildFocalPointCoverOperations({ x: 0, y: 0 }, SOURCE, { width: 100, height: 150 })[1]?.[1]).to.include({
      left: 0,
      top: 0,
    });
    expect(
      buildFocalPointCoverOperations({ x: 9999, y: 9999 }, SOURCE, { width: 100, height: 150 })[1]?.[1],
    ).to.include({
      left: 100,
      top: 0,
    });
  });

  it('an enlarged image is cut before it is resized', () => {
    expect(buildFocalPointCoverOperations({ x: 400, y: 300 }, SOURCE, { width: 900, height: 900 })).to.deep.equal([
      ['extract', { height: 300, left: 100, top: 0, width: 300 }],
      ['resize', { fit: 'fill', height: 900, width: 900 }],
    ]);
  });

  it('withoutEnlargement cuts a small image and does not resize it', () => {
    const options = { withoutEnlargement: true };
    expect(buildFocalPointCoverOperations({ x: 0, y: 0 }, SOURCE, { width: 350, height: 900 }, options)).to.deep.equal([
      ['extract', { height: 300, left: 0, top: 0, width: 350 }],
    ]);
    expect(buildFocalPointCoverOperations({ x: 0, y: 0 }, SOURCE, { width: 900, height: 900 }, options)).to.deep.equal(
      [],
    );
  });

  it('resize and extract stay inside the image for any sizes', () => {
    const sides = [1, 2, 3, 7, 99, 100, 101, 333, 1000, 5999];
    for (const width of sides)
      for (const height of sides)
        for (const across of sides)
          for (const point of [0, 50, 6000]) {
            const target = { width: across, height: 77 };
            let now = { width, height };
            for (const [name, args] of buildFocalPointCoverOperations({ x: point, y: point }, now, target)) {
              const {
                left = 0,
                top = 0,
                width: wide,
                height: high,
              } = args as typeof now & { left?: number; top?: number };
              const size = { width: wide, height: high };
              expect(Object.values(size).every((side) => Number.isInteger(side) && side >= 1)).to.equal(true);
              if (name === 'extract') {
                expect(left).to.be.within(0, now.width - size.width);
                expect(top).to.be.within(0, now.height - size.height);
              }
              now = size;
            }
            expect(now).to.include(target);
          }
  });

  it('the focal point of the request wins over the one of the file, and counts for fit=cover only', async () => {
    const choose = createVariantChooser();
    const file = { focal_point_x: 0, focal_point_y: 0 };
    const query = { width: '30', height: '30' };
    const left = async (more: Record<string, string>, changes = {}) => {
      const { variant } = await choose({ ...query, ...more }, { file: { ...file, ...changes } });
      const found = variant?.plan.operations.find(([name]) => name === 'extract');
      return (found?.[1] as { left: number } | undefined)?.left;
    };
    expect(await left({})).to.equal(0);
    expect(await left({ focal_point_x: '400' })).to.equal(10);
    expect(await left({ fit: 'cover' })).to.equal(0);
    for (const fit of ['contain', 'inside', 'outside']) expect(await left({ fit }), fit).to.equal(undefined);
    expect(await left({}, { focal_point_y: null })).to.equal(undefined);
    expect(await left({}, { width: null })).to.equal(undefined);
    expect(await left({ transforms: '[["rotate",90]]' })).to.equal(undefined);
  });
});
