import { expect } from 'chai';
import { removeExpiredUploads } from '../../../plugins/tus/clean-up.ts';

type Uploads = Parameters<typeof removeExpiredUploads>[0]['uploads'];
type Upload = NonNullable<Awaited<ReturnType<Uploads['find']>>>;
type Piece = Awaited<ReturnType<Uploads['pieces']>>[number];

const NOON = Date.parse('2026-01-01T12:00:00Z');
const MINUTE = 60_000;

/** Fake uploads with two pieces each, in memory. `expiring` maps ids to expiry times, in minutes after noon. */
function memory(expiring: Readonly<Record<string, number>>) {
  const rows = new Map<string, Upload>();
  const pieces = new Map<string, Piece[]>();
  const objects = new Set<string>();
  for (const [id, minutes] of Object.entries(expiring)) {
    rows.set(id, {
      id,
      user: null,
      storage: id === 'remote' ? 'gone' : 'local',
      metadata: '',
      size: 10,
      received: 5,
      replaces: null,
      completed: false,
      expires: new Date(NOON + minutes * MINUTE),
    });
    // The second piece has no size, as after a crash while it was written.
    pieces.set(id, [
      { name: `${id}.part-1`, start: 0, size: 5 },
      { name: `${id}.part-2`, start: 5, size: null },
    ]);
    for (const { name } of pieces.get(id) ?? []) objects.add(name);
  }
  const warnings: string[] = [];
  const locked = new Set<string>();
  const uploads = {
    expired: async (now: number) =>
      [...rows.values()].filter(({ expires }) => expires.getTime() < now).map(({ id }) => id),
    find: async (id: string) => rows.get(id),
    pieces: async (id: string) => pieces.get(id) ?? [],
    forgetPieces: async (names: readonly string[]) => {
      for (const [id, all] of pieces)
        pieces.set(
          id,
          all.filter(({ name }) => !names.includes(name)),
        );
    },
    remove: async (id: string) => {
      expect(pieces.get(id)).to.deep.equal([]);
      rows.delete(id);
    },
  };
  const deps = {
    uploads: uploads as unknown as Uploads,
    lock: {
      attempt: async <T>(name: string, work: () => Promise<T>) =>
        locked.has(name) ? undefined : { value: await work() },
    },
    storage: {
      locations: ['local'],
      at(name: string) {
        if (name === 'gone') throw new Error('there is no such location');
        return { remove: async (object: string) => void objects.delete(object) } as never;
      },
    },
    log: {
      warn: (about: object) => void warnings.push((about as { upload: string }).upload),
      error: () => {},
    } as never,
  };
  return { rows, objects, warnings, locked, deps };
}

describe('cleanUp of tus uploads', () => {
  it('the clean-up removes expired uploads with all their pieces and nothing else', async () => {
    const { rows, objects, deps } = memory({ old: -1, now: 0, young: 1 });
    expect(await removeExpiredUploads(deps, NOON)).to.equal(1);
    expect([...rows.keys()]).to.deep.equal(['now', 'young']);
    expect([...objects].filter((name) => name.startsWith('old'))).to.deep.equal([]);
    expect(objects.size).to.equal(4);
    expect(await removeExpiredUploads(deps, NOON + 2 * MINUTE)).to.equal(2);
    expect(objects.size).to.equal(0);
  });

  it('the clean-up skips an upload whose lock is held', async () => {
    const { rows, locked, deps } = memory({ busy: -5 });
    locked.add('tus busy');
    expect(await removeExpiredUploads(deps, NOON)).to.equal(0);
    expect([...rows.keys()]).to.deep.equal(['busy']);
    locked.clear();
    expect(await removeExpiredUploads(deps, NOON)).to.equal(1);
  });

  it('the clean-up skips an upload that was extended meanwhile', async () => {
    const { rows, deps } = memory({ old: -1 });
    const { attempt } = deps.lock;
    deps.lock.attempt = async (name, work) => {
      rows.set('old', { ...(rows.get('old') as Upload), expires: new Date(NOON + MINUTE) });
      return attempt(name, work);
    };
    expect(await removeExpiredUploads(deps, NOON)).to.equal(0);
    expect([...rows.keys()]).to.deep.equal(['old']);
  });

  it('the clean-up continues after a failure and keeps the row of that upload', async () => {
    const { rows, warnings, deps } = memory({ remote: -2, old: -1 });
    expect(await removeExpiredUploads(deps, NOON)).to.equal(1);
    expect([...rows.keys()]).to.deep.equal(['remote']);
    expect(warnings).to.deep.equal(['remote']);
  });
});
