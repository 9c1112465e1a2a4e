import { definePlugin } from '#kernel';
import { broker, environmentVariables } from '../broker/contract.ts';
import { flowOperations } from '../flows/contract.ts';
import { sandbox } from '../sandbox/contract.ts';
import { createExecOperation } from './exec-operation.ts';
import manifest from './package.json' with { type: 'json' };

interface Config {
  FLOWS_RUN_SCRIPT_TIMEOUT: number;
}

interface Shared {
  FLOWS_ENV_ALLOW_LIST: readonly string[];
}

export default definePlugin<Config, Shared>({
  manifest,
  register(host) {
    const { config } = host;
    const used = host.use({ broker, environmentVariables, sandbox });
    const brokerAccess = used.broker.register({
      name: 'scripts of flows',
      version: manifest.version,
      runtime: 'confined',
      grants: { log: true },
    });
    const exec = createExecOperation({
      sandbox: used.sandbox,
      brokerAccess,
      env: used.environmentVariables.pick(config.FLOWS_ENV_ALLOW_LIST),
      timeout: config.FLOWS_RUN_SCRIPT_TIMEOUT,
    });
    host.contribute(flowOperations, exec.operation);
    host.onStop(exec.close);
  },
});
