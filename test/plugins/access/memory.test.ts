import { expect } from 'chai';
import { createMemory } from '../../../plugins/access/permissions/memory.ts';

interface Asked {
  readonly key: string;
  answer(value: number, settled?: boolean): void;
}

function memory() {
  const asked: Asked[] = [];
  const kept = createMemory<number>(
    (key) =>
      new Promise((resolve) => asked.push({ key, answer: (value, settled = true) => resolve({ value, settled }) })),
  );
  return { kept, asked };
}

const soon = () => new Promise((resolve) => setImmediate(resolve));

describe('memory of permissions', () => {
  it('asks once for those who ask at the same time and for those who come later', async () => {
    const { kept, asked } = memory();
    const all = [kept.get('a'), kept.get('a')];
    await soon();
    asked[0]?.answer(1);
    expect(await Promise.all(all)).to.deep.equal([1, 1]);
    expect(await kept.get('a')).to.equal(1);
    expect(asked).to.have.length(1);
  });

  it('does not keep what was asked before a change', async () => {
    const { kept, asked } = memory();
    const early = kept.get('a');
    kept.forget();
    const late = kept.get('a');
    await soon();
    asked[0]?.answer(1);
    asked[1]?.answer(2);
    expect(await early).to.equal(1);
    expect(await late).to.equal(2);
    expect(await kept.get('a')).to.equal(2);
  });

  it('gives what a transaction sees of itself to nobody else', async () => {
    const { kept, asked } = memory();
    const inside = kept.get('a');
    const outside = kept.get('a');
    await soon();
    asked[0]?.answer(1, false);
    await soon();
    asked[1]?.answer(2);
    expect(await inside).to.equal(1);
    expect(await outside).to.equal(2);
    expect(await kept.get('a')).to.equal(2);
  });
});
