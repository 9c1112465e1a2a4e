import { type ContributionTo, definePlugin } from '#kernel';
import type { ConfinedChildLauncherOptions } from '../../sandbox/host/confined-child.ts';
import type { doctorChecks } from '../doctor/contract.ts';
import type { MetricSource } from '../metrics/contract.ts';
import { followObserver } from '../telemetry/library.ts';
import { sandbox, sandboxObservers } from './contract.ts';
import { createSandboxDoctorCheck } from './doctor-check.ts';
import { createSandboxMetricSource } from './metric-source.ts';
import manifest from './package.json' with { type: 'json' };
import { createSandbox } from './service.ts';
import type { SandboxConfig } from './settings.ts';

/** The launcher is imported when the first confined package asks for the runtime. */
const launch = async (options: ConfinedChildLauncherOptions) =>
  (await import('../../sandbox/host/launch/launcher.ts')).createConfinedChildLauncher(options);

export default definePlugin<SandboxConfig>({
  manifest,
  register(host) {
    const { config, log } = host;
    const observer = followObserver(host, sandboxObservers);
    const { sandbox: service, processes, stop } = createSandbox(config, launch, log, observer);
    host.provide(sandbox, service);
    host.contribute<MetricSource>('metrics.sources', createSandboxMetricSource(processes));
    host.contribute<ContributionTo<typeof doctorChecks>>('doctor.checks', createSandboxDoctorCheck(service));
    host.onStop(stop);
  },
});
