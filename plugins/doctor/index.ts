import { commands, definePlugin } from '#kernel';
import { createDoctorCommand } from './command.ts';
import { doctorChecks } from './contract.ts';
import manifest from './package.json' with { type: 'json' };
import { createProcessCheck } from './process-check.ts';

interface SharedConfig {
  readonly PUBLIC_URL: string;
}

export default definePlugin<Record<never, never>, SharedConfig>({
  manifest,
  register(host) {
    host.define(doctorChecks);
    const own = createProcessCheck(host.config.PUBLIC_URL);
    host.contribute(
      commands,
      createDoctorCommand(() => [own, ...host.read(doctorChecks)]),
    );
  },
});
