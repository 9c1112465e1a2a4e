import { authorities, type Capability, capabilities, fail } from '#kernel';
import type { QueueApi } from '../../plugins/queue/contract.ts';
import { createInMemoryQueues, type InMemoryQueues } from './in-memory-queue.ts';
import type { TestPlugin } from './test-plugins.ts';

/** A plugin with the capability `queue` whose queues are in memory. `queues` answers them once it has registered. */
export function createInMemoryQueuePlugin(): { readonly plugin: TestPlugin; queues(): InMemoryQueues } {
  let queues: InMemoryQueues | undefined;
  const plugin: TestPlugin = {
    name: 'in-memory-queue',
    manifest: {
      contributes: { capabilities: { names: ['queue'] } },
      capabilities: { database: {} },
    },
    register(host) {
      queues = createInMemoryQueues(host.db);
      host.contribute(capabilities, createQueueCapability(queues));
      host.onStart(queues.start);
      host.onStop(queues.stop);
    },
  };
  return { plugin, queues: () => queues as InMemoryQueues };
}

/** The capability that binds `host.queue` to queues in memory. */
export const createQueueCapability = (queues: QueueApi): Capability<readonly string[], QueueApi> => ({
  name: 'queue',
  member: 'queue',
  schema: { type: 'array', items: { type: 'string' } },
  bind: (grant, { name, recordDenial }) => ({
    define(options) {
      if (grant.includes(options.name)) return queues.define(options);
      recordDenial(`define the queue ${options.name}`);
      throw fail('CAPABILITY_DENIED', `${name} may not define the queue ${options.name}`);
    },
  }),
  describe: (grant) =>
    authorities(
      'runs',
      grant.map((one) => `jobs of the queue ${one}`),
    ),
  widens: (before, after) => after.some((one) => !before?.includes(one)),
});
