import { definePlugin } from '#kernel';
import { lock, presence } from '../cluster/contract.ts';
import { migrations } from '../database/contract.ts';
import { schedule } from './contract.ts';
import manifest from './package.json' with { type: 'json' };
import { createJobScheduler } from './schedule.ts';
import { createScheduleTicks } from './schedule-ticks.ts';
import { createScheduleTicksMigrations } from './schedule-ticks-migrations.ts';

export default definePlugin({
  manifest,
  register(host) {
    const { db } = host;
    const used = host.use({ lock, presence });
    for (const migration of createScheduleTicksMigrations(db)) host.contribute(migrations, migration);
    const { stop, ...service } = createJobScheduler({
      lock: used.lock,
      ticks: createScheduleTicks({ db, presence: used.presence }),
    });
    host.provide(schedule, service);
    host.onStop(stop);
  },
});
