import { definePlugin } from '#kernel';
import { schedule } from '../schedule/contract.ts';
import { retentionRules } from './contract.ts';
import { createOldHistory } from './old-history.ts';
import manifest from './package.json' with { type: 'json' };
import { createRetentionJob, type RetentionConfig } from './retention-job.ts';

export default definePlugin<RetentionConfig>({
  manifest,
  register(host) {
    const { config, db, events, log } = host;
    const { schedule: jobs } = host.use({ schedule });
    host.define(retentionRules);
    const rules = () => host.read(retentionRules);
    const job = createRetentionJob({ schedule: jobs, config, history: createOldHistory(db), rules, log });
    host.onStart(job.assertSettings);
    events.onAction('server.start', () => job.start());
    host.onStop(job.stop);
  },
});
