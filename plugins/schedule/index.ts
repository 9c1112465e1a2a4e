import { definePlugin } from '#kernel';
import { lock } from '../cluster/contract.ts';
import { migrations } from '../database/contract.ts';
import { schedule } from './contract.ts';
import { createScheduleTickClaimer, createScheduleTicksMigration } from './job-tick-claims.ts';
import manifest from './package.json' with { type: 'json' };
import { createJobScheduler } from './schedule.ts';

export default definePlugin({
  manifest,
  register(host) {
    const { db } = host;
    const used = host.use({ lock });
    host.contribute(migrations, createScheduleTicksMigration(db));
    const { stop, ...service } = createJobScheduler({
      lock: used.lock,
      claim: createScheduleTickClaimer(db),
    });
    host.provide(schedule, service);
    host.onStop(stop);
  },
});
