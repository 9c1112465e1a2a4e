import type { ServiceClass } from '../extensions-full/contract.ts';
import { describeHealth, type HealthReportDeps } from './health.ts';
import { buildServerInfo, type InfoDeps } from './info.ts';

/** `ServerService` of code with full authority: what `/server/info` and `/server/health` answer the caller. */
export const serverServiceClass = (deps: InfoDeps & { readonly health: HealthReportDeps }): ServiceClass => ({
  name: 'ServerService',
  methods: {
    serverInfo: (caller) => buildServerInfo(caller, deps),
    health: (caller) => describeHealth(caller, deps.health),
  },
});
