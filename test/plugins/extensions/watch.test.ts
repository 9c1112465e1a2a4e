import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { type FolderWatch, watchFolder } from '../../../plugins/extensions/watch/watch.ts';
import { until } from '../../support/until.ts';

const log = { warn: () => {} } as never;

describe('watch', () => {
  let watching: FolderWatch | undefined;
  afterEach(() => watching?.stop());

  it('a settled change is reported once, and a later one again', async () => {
    let state = 0;
    let looks = 0;
    const reportedStates: number[] = [];
    watching = watchFolder({
      readState: async () => {
        looks++;
        return String(state);
      },
      onChange: async () => void reportedStates.push(state),
      log,
      settle: 10,
    });
    await until(() => looks > 3);
    expect(reportedStates).to.deep.equal([]);
    state = 1;
    await until(() => reportedStates.length === 1);
    state = 2;
    await until(() => reportedStates.length === 2);
    expect(reportedStates).to.deep.equal([1, 2]);
  });

  it('a change is not reported while the folder keeps changing', async () => {
    let looks = 0;
    const reportedStates: number[] = [];
    watching = watchFolder({
      // Stands for a folder that is being copied: its state changes at each check, up to the eighth.
      readState: async () => String(Math.min(++looks, 8)),
      onChange: async () => void reportedStates.push(looks),
      log,
      settle: 5,
    });
    await until(() => reportedStates.length > 0 && looks > 15);
    expect(reportedStates).to.deep.equal([9]);
  });

  it('a change during a report is reported next', async () => {
    let state = 0;
    const reportedStates: number[] = [];
    watching = watchFolder({
      readState: async () => String(state),
      onChange: async () => {
        reportedStates.push(state);
        if (state === 1) state = 2;
      },
      log,
      settle: 5,
    });
    await pause(0);
    state = 1;
    await until(() => reportedStates.length === 2);
    expect(reportedStates).to.deep.equal([1, 2]);
  });

  it('checks continue after a failure and end with stop()', async () => {
    let looks = 0;
    const one = watchFolder({
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
