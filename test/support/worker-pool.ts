import { createWorkerPoolService } from '../../plugins/workers/workers.ts';

/** Opens a pool of worker processes without a service around it; `stop` ends its processes. */
export function openWorkerPool(options: Parameters<ReturnType<typeof createWorkerPoolService>['pool']>[0]) {
  return createWorkerPoolService().pool(options);
}
