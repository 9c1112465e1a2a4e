import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { type Watch, watch } from '../../../plugins/extensions/watch/watch.ts';

const log = { warn: () => {} } as never;

async function until(what: () => boolean): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (!what()) {
    if (Date.now() > deadline) throw new Error('it did not happen');
    await pause(5);
  }
}

describe('extensions: watching', () => {
  let watching: Watch | undefined;
  afterEach(() => watching?.stop());

  it('tells of a change once it has come to rest, and of a later one again', async () => {
    let state = 0;
    let looks = 0;
    const told: number[] = [];
    watching = watch({
      readState: async () => {
        looks++;
        return String(state);
      },
      onChange: async () => void told.push(state),
      log,
      settle: 10,
    });
    await until(() => looks > 3);
    expect(told).to.deep.equal([]);
    state = 1;
    await until(() => told.length === 1);
    state = 2;
    await until(() => told.length === 2);
    expect(told).to.deep.equal([1, 2]);
  });

  it('waits while something keeps changing', async () => {
    let looks = 0;
    const told: number[] = [];
    watching = watch({
      // As when a folder is being copied: something new at each look, up to the eighth.
      readState: async () => String(Math.min(++looks, 8)),
      onChange: async () => void told.push(looks),
      log,
      settle: 5,
    });
    await until(() => told.length > 0 && looks > 15);
    expect(told).to.deep.equal([9]);
  });

  it('sees a change that happens while it tells of another one', async () => {
    let state = 0;
    const told: number[] = [];
    watching = watch({
      readState: async () => String(state),
      onChange: async () => {
        told.push(state);
        if (state === 1) state = 2;
      },
      log,
      settle: 5,
    });
    await pause(0);
    state = 1;
    await until(() => told.length === 2);
    expect(told).to.deep.equal([1, 2]);
  });

  it('goes on after a failure, and is quiet once it is stopped', async () => {
    let looks = 0;
    const one = watch({
      readState: async () => {
        looks++;
        if (looks === 2) throw new Error('the drive is gone');
        return String(looks > 3);
      },
      onChange: async () => {},
      log,
      settle: 1,
    });
    await until(() => looks > 6);
    await one.stop();
    const before = looks;
    await pause(30);
    expect(looks).to.equal(before);
  });
});
