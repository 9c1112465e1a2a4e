import { definePlugin } from '#kernel';
import { lock } from '../cluster/contract.ts';
import { migrations } from '../database/contract.ts';
import { schedule } from './contract.ts';
import manifest from './package.json' with { type: 'json' };
import { createSchedule } from './schedule.ts';
import { createClaimTick, createTicksMigration } from './ticks.ts';

export default definePlugin({
  manifest,
  register(host) {
    const { db } = host;
    const used = host.use({ lock });
    host.contribute(migrations, createTicksMigration(db));
    const { stop, ...service } = createSchedule({
      lock: used.lock,
      claim: createClaimTick(db),
    });
    host.provide(schedule, service);
    host.onStop(stop);
  },
});
