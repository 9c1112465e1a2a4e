import { expect } from 'chai';
import { assertUploadPiecesComplete, joinUploadPieces, receiveUploadPieces } from '../../../plugins/tus/pieces.ts';
import { splitBytes } from '../../../plugins/tus/split.ts';
import { captureError } from '../../support/test-plugins.ts';

async function* chunks(...sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  let at = 0;
  for (const size of sizes) yield Uint8Array.from({ length: size }, () => at++);
}

async function read(bytes: AsyncIterable<Uint8Array>): Promise<number[]> {
  const all: number[] = [];
  for await (const part of bytes) all.push(...part);
  return all;
}

const upTo = (end: number): number[] => Array.from({ length: end }, (_, at) => at);

describe('pieces of tus uploads', () => {
  for (const sizes of [[], [0], [1], [4], [5], [3, 3, 3], [12], [0, 2, 0, 2], [4, 4], [1, 11, 1]]) {
    it(`splitBytes cuts chunks of ${sizes.join(' and ') || 'no'} bytes into pieces of 4 bytes`, async () => {
      const parts: number[][] = [];
      for await (const part of splitBytes(chunks(...sizes), 4)) parts.push(await read(part));
      const total = sizes.reduce((sum, size) => sum + size, 0);
      expect(parts.flat()).to.deep.equal(upTo(total));
      expect(parts.map(({ length }) => length)).to.deep.equal([
        ...Array.from({ length: Math.floor(total / 4) }, () => 4),
        ...(total % 4 ? [total % 4] : []),
      ]);
    });
  }

  it('splitBytes ends a full piece before it waits for more bytes', async () => {
    async function* stalling() {
      yield* chunks(4);
      await new Promise(() => {});
    }
    const [first] = [await splitBytes(stalling(), 4).next()];
    expect(await read(first.value as AsyncIterable<Uint8Array>)).to.deep.equal(upTo(4));
  });

  /** Fake storage and upload rows in memory; `keep` decides whether `completePiece` counts a piece. */
  function memory(keep: () => boolean = () => true) {
    const objects = new Map<string, number[]>();
    const names = new Set<string>();
    const events: string[] = [];
    const uploads = {
      async beginPiece(_id: string, start: number) {
        const name = `a.part-${start}`;
        names.add(name);
        events.push(`named ${start}`);
        return name;
      },
      async completePiece(_id: string, { start, size }: { start: number; size: number }) {
        events.push(`kept ${start}+${size}`);
        return keep();
      },
      forgetPieces: async (all: readonly string[]) => all.forEach((name) => void names.delete(name)),
    };
    const location = {
      name: 'local',
      async write(name: string, bytes: AsyncIterable<Uint8Array>) {
        expect(names.has(name)).to.equal(true);
        const all = await read(bytes);
        objects.set(name, all);
        events.push(`written ${all.length}`);
        return all.length;
      },
      remove: async (name: string) => void objects.delete(name),
      open: async (name: string) => {
        const found = objects.get(name);
        return found && { size: found.length, bytes: [Uint8Array.from(found)] };
      },
    };
    const deps = { uploads, location, log: { warn() {} } } as unknown as Parameters<typeof receiveUploadPieces>[0];
    return { objects, names, events, deps };
  }

  it('a piece is recorded before it is written, and counted after it', async () => {
    const { deps, events, objects } = memory();
    expect(await receiveUploadPieces(deps, 'a', 10, chunks(6), 4)).to.equal(16);
    expect(events).to.deep.equal(['named 10', 'written 4', 'kept 10+4', 'named 14', 'written 2', 'kept 14+2']);
    const pieces = [
      { name: 'a.part-10', start: 0, size: 4 },
      { name: 'a.part-14', start: 4, size: 2 },
    ];
    expect(await read(joinUploadPieces(deps.location, pieces))).to.deep.equal(upTo(6));
    objects.delete('a.part-14');
    expect((await captureError(read(joinUploadPieces(deps.location, pieces)))).message).to.contain('a.part-14');
  });

  it('a piece whose source fails is removed and forgotten', async () => {
    const { deps, objects, names } = memory();
    async function* breaking() {
      yield* chunks(5);
      throw new Error('broken');
    }
    expect((await captureError(receiveUploadPieces(deps, 'a', 0, breaking(), 4))).message).to.equal('broken');
    expect([...objects.keys()]).to.deep.equal(['a.part-0']);
    expect([...names]).to.deep.equal(['a.part-0']);
  });

  it('a piece is removed with 423 if the upload has moved on', async () => {
    const { deps, objects, names } = memory(() => false);
    expect((await captureError(receiveUploadPieces(deps, 'a', 0, chunks(5), 4))).status).to.equal(423);
    expect([objects.size, names.size]).to.deep.equal([0, 0]);
  });

  it('a piece stays if its statement fails, since it may have been counted', async () => {
    const { deps, objects, names } = memory(() => {
      throw new Error('the connection was lost');
    });
    expect((await captureError(receiveUploadPieces(deps, 'a', 0, chunks(3), 4))).message).to.contain('lost');
    expect([objects.size, names.size]).to.deep.equal([1, 1]);
  });

  it('assertComplete rejects pieces that do not fit together', () => {
    const first = { name: 'a', start: 0, size: 4 };
    const second = { name: 'b', start: 4, size: 2 };
    const broken = { name: 'c', start: 4, size: null };
    expect(assertUploadPiecesComplete([first, broken, second], 6)).to.deep.equal([first, second]);
    for (const wrong of [
      [first],
      [second],
      [first, second, { ...second, name: 'd' }],
      [first, { ...second, start: 5 }],
    ]) {
      expect(() => assertUploadPiecesComplete(wrong, 6)).to.throw();
    }
  });
});
