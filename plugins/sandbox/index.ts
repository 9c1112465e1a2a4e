import { type ContributionTo, definePlugin } from '#kernel';
import type { ConfinedChildLauncherOptions } from '../../sandbox/host/confined-child.ts';
import type { doctorChecks } from '../doctor/contract.ts';
import { sandbox } from './contract.ts';
import { createSandboxDoctorCheck } from './doctor-check.ts';
import manifest from './package.json' with { type: 'json' };
import { createSandbox } from './service.ts';
import type { SandboxConfig } from './settings.ts';

/** The launcher is imported when the first confined package asks for the runtime. */
const launch = async (options: ConfinedChildLauncherOptions) =>
  (await import('../../sandbox/host/launch/launcher.ts')).createConfinedChildLauncher(options);

export default definePlugin<SandboxConfig>({
  manifest,
  register({ config, contribute, log, provide, onStop }) {
    const { sandbox: service, stop } = createSandbox(config, launch, log);
    provide(sandbox, service);
    contribute<ContributionTo<typeof doctorChecks>>('doctor.checks', createSandboxDoctorCheck(service));
    onStop(stop);
  },
});
