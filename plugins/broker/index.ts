import { definePlugin } from '#kernel';
import { remoteLogMethods } from './confined-log-methods.ts';
import { broker, remoteMethods } from './contract.ts';
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
  },
});
