import { authorities, type Capability, fail } from '#kernel';
import type { QueueApi } from './contract.ts';
import type { JobQueues } from './job-queues.ts';

/** The names of the queues that a plugin may define. */
type QueueGrant = readonly string[];

const GRANT_SCHEMA = {
  type: 'array',
  minItems: 1,
  uniqueItems: true,
  items: { type: 'string', pattern: '^[a-z][a-z0-9-]{0,49}$' },
} as const;

/** The capability that binds `host.queue`. */
export const createQueueCapability = (queues: Pick<JobQueues, 'define'>): Capability<QueueGrant, QueueApi> => ({
  name: 'queue',
  member: 'queue',
  schema: GRANT_SCHEMA,
  bind: (grant, { name: owner, recordDenial }) => ({
    define(options) {
      if (!grant.includes(options.name)) {
        recordDenial(`queue.define ${options.name}`);
        throw fail('CAPABILITY_DENIED', `The manifest of ${owner} does not name the queue "${options.name}".`);
      }
      return queues.define(options, owner);
    },
  }),
  describe: (grant) =>
    authorities(
      'runs',
      grant.map((queue) => `jobs of the queue ${queue}`),
    ),
  widens: (before, after) => after.some((queue) => !before?.includes(queue)),
});
