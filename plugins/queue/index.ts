import { type ContributionTo, capabilities, commands, definePlugin } from '#kernel';
import { bus } from '../cluster/contract.ts';
import { dedicatedConnections, maintenance, migrations } from '../database/contract.ts';
import type { doctorChecks } from '../doctor/contract.ts';
import { routes } from '../http/contract.ts';
import type { MetricSource } from '../metrics/contract.ts';
import { type ScheduledJobHandle, schedule } from '../schedule/contract.ts';
import { followObserver } from '../telemetry/library.ts';
import { createQueuesCommand } from './command.ts';
import { queueObservers } from './contract.ts';
import { createQueueDoctorCheck } from './doctor-check.ts';
import { startEndedJobCleanUp } from './ended-job-clean-up.ts';
import { createJobList } from './job-list.ts';
import { createJobProgressMigration, createJobProgressRecorderFactory } from './job-progress.ts';
import { createJobQueues } from './job-queues.ts';
import { createJobStore } from './job-store.ts';
import { createQueueMetricSource } from './metric-source.ts';
import manifest from './package.json' with { type: 'json' };
import { createQueueCapability } from './queue-capability.ts';
import { createQueueRoutes } from './routes.ts';

export default definePlugin({
  manifest,
  register(host) {
    const { db, log, events } = host;
    const used = host.use({ bus, connections: dedicatedConnections, 'database-maintenance': maintenance, schedule });
    const store = createJobStore({ db, connections: used.connections, log });
    const createProgress = createJobProgressRecorderFactory(db);
    const list = createJobList(db);
    const observer = followObserver(host, queueObservers);
    const queues = createJobQueues({ db, bus: used.bus, store, list, createProgress, observer, log });
    let cleanUp: ScheduledJobHandle | undefined;

    host.contribute(migrations, createJobProgressMigration(db));
    host.contribute(capabilities, createQueueCapability(queues));
    host.contribute(commands, createQueuesCommand({ queues, list, store }));
    host.contribute<ContributionTo<typeof doctorChecks>>(
      'doctor.checks',
      createQueueDoctorCheck({ db, maintenance: used['database-maintenance'] }),
    );
    host.contribute<MetricSource>('metrics.sources', createQueueMetricSource(store, list));
    for (const route of createQueueRoutes({ queues, list, store })) host.contribute(routes, route);

    // Commands start the service without a server: they add jobs, which a serving process runs.
    events.onAction('server.start', () => {
      cleanUp = startEndedJobCleanUp({ schedule: used.schedule, queues, list, store, log });
      void queues.start();
    });
    events.onAction('server.stop', () => queues.stopFetching());
    host.onStop(async () => {
      await cleanUp?.stop();
      await queues.stop();
    });
  },
});
