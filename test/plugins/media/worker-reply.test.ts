import { expect } from 'chai';
import {
  parseFileInspection,
  parseImageTransformResult,
  parseMediaFailure,
} from '../../../plugins/media/worker-reply.ts';
import { readTypeScriptFiles } from '../../support/sources.ts';

describe('replies of media processes', () => {
  it('a valid reply is accepted', () => {
    const found = { type: 'image/png', width: 1, height: 2, duration: 0, metadata: { exif: { ISO: 1 } } };
    expect(parseFileInspection(found)).to.deep.equal(found);
    expect(parseImageTransformResult({ width: 10, height: 10, size: 5 }, 10)).to.deep.equal({
      width: 10,
      height: 10,
      size: 5,
    });
    expect(parseMediaFailure({ failed: 'damaged', message: 'why' })).to.include({ reason: 'damaged', message: 'why' });
  });

  it('invalid members of a reply are dropped', () => {
    const lies: readonly unknown[] = [
      null,
      'text',
      [],
      { type: 'text/html; charset=x\r\nSet-Cookie: a=b' },
      { type: `image/${'x'.repeat(300)}` },
      { type: 7, width: 1 },
      { width: -1, height: 1 },
      { width: 1.5, height: 1 },
      { width: 2 ** 40, height: 1 },
      { duration: '1' },
      { duration: -5 },
      { metadata: [] },
      { metadata: { exif: 'x' } },
      { metadata: { exif: { text: 'x'.repeat(70_000) } } },
    ];
    for (const lie of lies) expect(parseFileInspection(lie), JSON.stringify(lie)?.slice(0, 60)).to.deep.equal({});
    for (const lie of [
      null,
      {},
      { width: 11, height: 1, size: 1 },
      { width: 1, height: 1, size: -1 },
      { width: 0, height: 1, size: 1 },
    ])
      expect(parseImageTransformResult(lie, 10), JSON.stringify(lie)).to.equal(undefined);
    expect(parseMediaFailure({ failed: 'admin', message: 'x' })).to.equal(undefined);
    expect(parseMediaFailure({ failed: 'invalid', message: `a\n${'b'.repeat(999)}` })?.message).to.match(/^a b{298}$/);
  });

  it('only files under child/ import decoders', () => {
    const inside = readTypeScriptFiles('plugins/media').filter(({ path }) => !path.includes('/child/'));
    expect(inside.length).to.be.greaterThan(5);
    const loads = inside.flatMap(({ path, imports }) =>
      imports
        .filter(({ specifier }) => /child\/|^(?:sharp|exifr|file-type|music-metadata)/.test(specifier))
        .map(({ specifier }) => `${path}: ${specifier}`),
    );
    expect(loads).to.deep.equal([]);
  });
});
