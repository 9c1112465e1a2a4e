import { definePlugin } from '#kernel';
import { remoteLogMethods } from './confined-log-methods.ts';
import { broker, environmentVariables, remoteMethods, runtimeAudit } from './contract.ts';
import { GrantBroker } from './grant-broker.ts';
import manifest from './package.json' with { type: 'json' };

export default definePlugin({
  manifest,
  register(host) {
    const { packages } = host;
    host.define(remoteMethods);
    host.contribute(remoteMethods, remoteLogMethods);
    const subjects = new GrantBroker({ packages, remotes: () => host.read(remoteMethods) });
    packages.addAuditLines(() => subjects.auditLines());
    host.provide(broker, subjects);
    host.provide(runtimeAudit, {
      addLines: (lines) => packages.addAuditLines(lines),
      countSystemUse: (owner, what) => packages.record('system', owner, what),
    });
    host.provide(environmentVariables, {
      pick(names) {
        const { source } = packages.settings();
        return Object.freeze(
          Object.fromEntries(names.flatMap((name) => (source[name] === undefined ? [] : [[name, source[name]]]))),
        ) as Readonly<Record<string, string>>;
      },
    });
  },
});
