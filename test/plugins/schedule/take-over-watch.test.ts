import { expect } from 'chai';
import { createTakeOverWatch } from '../../../plugins/schedule/take-over-watch.ts';
import { until } from '../../support/until.ts';

describe('createTakeOverWatch()', () => {
  it('looks again where it was started during a look, which may have been too early for that tick', async () => {
    const tick = new Date();
    const gate = Promise.withResolvers<void>();
    const taken: Date[] = [];
    let looks = 0;
    const watch = createTakeOverWatch({
      name: 'a',
      since: new Date(0),
      log: { error: () => {} },
      run: (at) => taken.push(at),
      ticks: {
        async takeOver() {
          looks++;
          if (looks > 1) return { taken: [tick], isWatched: false };
          await gate.promise;
          return { taken: [], isWatched: false };
        },
      },
    });
    watch.start();
    await until(() => looks === 1);
    watch.start();
    gate.resolve();
    await until(() => taken.length > 0);
    watch.stop();
    expect([looks, taken]).to.deep.equal([2, [tick]]);
  });
});
